"""Reads metrics from stdin with Prometheus's own client library and prints the samples as JSON: metrics-reader.py FORMAT."""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

families = list({"openmetrics": openmetrics, "prometheus": prometheus}[sys.argv[1]](sys.stdin.read()))
samples = {}
for family in families:
    assert family.documentation and family.type != "unknown", family.name
    for sample in family.samples:
        labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
        samples[f"{sample.name}{{{labels}}}"] = sample.value
print(json.dumps({"types": {family.name: family.type for family in families}, "samples": samples}))

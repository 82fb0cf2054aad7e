// Times in nanoseconds, taken in turn of two candidates so that whatever else the machine does meets both.
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int by_value(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static inline double median(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, by_value);
    return samples[count / 2];
}

// The median of the ratios of neighbours: of the medians of what both took in one turn each, one after the other.
static inline double ratio_of_neighbours(double *const samples[2], size_t count, size_t turn)
{
    size_t pairs = count / turn;
    double *ratios = calloc(pairs, sizeof(double)), *some = calloc(turn, sizeof(double)), medians[2];
    if (!ratios || !some || pairs == 0) exit(70);
    for (size_t pair = 0; pair < pairs; pair++) {
        for (size_t side = 0; side < 2; side++) {
            memcpy(some, samples[side] + pair * turn, turn * sizeof *some);
            medians[side] = median(some, turn);
        }
        ratios[pair] = medians[0] / medians[1];
    }
    double middle = median(ratios, pairs);
    free(ratios);
    free(some);
    return middle;
}

// The median and the 99th percentile.
static inline void summarize(double *samples, size_t count, double summary[2])
{
    qsort(samples, count, sizeof *samples, by_value);
    summary[0] = samples[count / 2];
    summary[1] = samples[count - 1 - count / 100];
}

typedef double (*sample)(const void *candidate);

// Prints the medians of both, the 99th percentiles of both, in microseconds, and the ratio of neighbours. They take turns after every
// `turn` samples, until each has `count` samples or the time is `end`. The first tenth of `count` warms up and is not counted.
static inline void compare_until(double end, size_t count, size_t turn, sample take, const void *first, const void *second)
{
    double *samples[2] = {calloc(count, sizeof(double)), calloc(count, sizeof(double))};
    const void *candidates[2] = {first, second};
    if (!samples[0] || !samples[1]) exit(70);
    size_t done = 0;
    for (; done < count + count / 10 && now() < end; done += turn) {
        for (size_t side = 0; side < 2; side++) {
            // Neither always comes second.
            size_t which = (side + done / turn) % 2;
            for (size_t index = done; index < done + turn; index++)
                samples[which][index % count] = take(candidates[which]);
        }
    }
    if (done < count) count = done;
    double summaries[2][2], ratio = ratio_of_neighbours(samples, count, turn);
    for (size_t side = 0; side < 2; side++) summarize(samples[side], count, summaries[side]);
    printf("%.2f %.2f ", summaries[0][0] / 1e3, summaries[1][0] / 1e3);
    printf("%.2f %.2f %.3f\n", summaries[0][1] / 1e3, summaries[1][1] / 1e3, ratio);
}

static inline void compare(size_t count, size_t turn, sample take, const void *first, const void *second)
{
    compare_until(HUGE_VAL, count, turn, take, first, second);
}

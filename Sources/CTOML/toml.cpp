#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0

// The library checks parts of its grammar with assertions; without them its behaviour is undefined. They stay in every build.
#undef NDEBUG

#include "CTOML.h"

// is_non_ascii_horizontal_whitespace() reaches its "unreachable" end with letters such as U+00E9 that follow a backslash at the
// end of a line (3.3 and 3.4). There it returns false with this.
#include <toml++/impl/forward_declarations.h>
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#pragma pop_macro("TOML_UNREACHABLE")

#include <toml++/toml.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace {

struct Visit {
    toml_visitor visitor;
    void *context;

    static toml_text text(std::string_view text) { return {text.data(), text.size()}; }

    void report(std::string_view key, toml_kind kind, int64_t integer = 0) const {
        visitor(context, text(key), {kind, {}, integer, 0});
    }

    void content(const toml::table &table) const {
        for (const auto &[key, node] : table) value(key.str(), node);
    }

    void value(std::string_view key, const toml::node &node) const {
        switch (node.type()) {
        case toml::node_type::none: break;
        case toml::node_type::table:
            report(key, TOML_TABLE);
            content(*node.as_table());
            report({}, TOML_END);
            break;
        case toml::node_type::array:
            report(key, TOML_ARRAY);
            for (const auto &element : *node.as_array()) value({}, element);
            report({}, TOML_END);
            break;
        case toml::node_type::string:
            visitor(context, text(key), {TOML_STRING, text(node.as_string()->get()), 0, 0});
            break;
        case toml::node_type::integer: report(key, TOML_INTEGER, node.as_integer()->get()); break;
        case toml::node_type::floating_point:
            visitor(context, text(key), {TOML_FLOATING_POINT, {}, 0, node.as_floating_point()->get()});
            break;
        case toml::node_type::boolean: report(key, TOML_BOOLEAN, node.as_boolean()->get()); break;
        case toml::node_type::date: report(key, TOML_DATE); break;
        case toml::node_type::time: report(key, TOML_TIME); break;
        case toml::node_type::date_time: report(key, TOML_DATE_TIME); break;
        }
    }
};

int fail(toml_error *error, std::string_view message, unsigned line) {
    const size_t length = std::min(message.size(), sizeof error->message - 1);
    std::memcpy(error->message, message.data(), length);
    error->message[length] = 0;
    error->line = line;
    return -1;
}

} // namespace

int toml_read(const char *text, size_t count, toml_visitor visitor, void *context, toml_error *error) {
    // Nothing may be thrown into Swift. The library throws nothing itself: only an allocation can.
    try {
        const toml::parse_result result = toml::parse(std::string_view(text, count));
        if (!result) return fail(error, result.error().description(), result.error().source().begin.line);
        Visit{visitor, context}.content(result.table());
        return 0;
    } catch (...) {
        return fail(error, "not enough memory", 0);
    }
}

"""Doxygen's view of a public header (Doxyfile, INPUT_FILTER): writes it to stdout, line by line.

The headers have plain comments, without Doxygen's marks. Here they get them: what stands before a
declaration or behind it describes it, and describes each name of `int64_t bytes, total_bytes;`. What only
copies, moves or compares is left out, and members whose name says everything get the words of docs/c.md.
"""

import re
import sys

NAME = r"\w+(?: = [^,;]+)?"
SEVERAL = re.compile(rf"^(?P<type> +[\w:<>, *]+?[ *])(?P<names>{NAME}(?:, {NAME})+);(?P<comment> +/[/*].*)?$")
LEFT_OUT = re.compile(r"^  (~|friend |(\w+)\((const \2&|\2&&)\)|\w+& operator=|bool operator==)")
BY_CONVENTION = [
    (r"^  size_t struct_size;$", "sizeof of this struct as the caller knows it"),
    (r"^  size_t (\w+)_count;$", "their number: elements of the array before"),
    (r"^  void[*] user_data;$", "what the functions before get as their first argument"),
    (r"^static inline heed_status \w+_init\(", "Sets all options to their defaults."),
    (r"^HEED_EXPORT heed_status \w+_init_sized\(", "Sets `size` bytes of the options to the defaults."),
    (r"^HEED_EXPORT heed_status \w+_result_free\(", "Frees a result and what was read from it. NULL, or freed: "
     "HEED_ERROR_INVALID_HANDLE."),
]


def escape(text: str) -> str:
    """Without commands of Doxygen and tags of HTML, of which our comments have none."""
    return re.sub(r"(?<!`)([@<>\\])", r"\\\1", text)


def marked(line: str) -> str:
    """The line with its comment, if it has one, as Doxygen's."""
    if match := re.match(r"^( *)///   (.*)", line):  # an example
        return f"{match[1]}///     {match[2]}"
    code, mark, comment = re.match(r"^(.*?)(/// ?|// |/[*] |$)(.*)$", line).groups()
    behind = code.strip()
    if not mark or mark == "// " and (not behind or behind.startswith("}")):
        return line
    if behind:
        mark = {"// ": "///< ", "/* ": "/**< "}.get(mark, mark)
    elif mark == "/* ":
        mark = "/** "
    return code + mark + escape(comment)


def one_by_one(match: re.Match, before: str) -> str:
    """`int a, b; // words` as two declarations with the same comment, on one line."""
    names = re.split(r", (?=\w)", match["names"])
    words = re.sub(r"^ *(//|/[*]) *| *[*]/ *$", "", match["comment"] or "")
    behind = f" /**< {escape(words)} */" if words else ""
    first, *others = (f"{match['type']}{name};{behind}" for name in names)
    return first + "".join(f" {'' if words else before}{other}" for other in others)


def main(path: str) -> None:
    before: list[str] = []  # the comment above the line
    in_comment = private = False
    for number, line in enumerate(open(path, encoding="utf-8").read().splitlines(), 1):
        line = re.sub(r"(?<=\d)'(?=\d)", "", line)  # which Doxygen takes for quotes
        line = re.sub(r" = {\.[^}]*};", ";", line)  # Sphinx cannot read designated initializers
        shown = escape(line) if in_comment else marked(line)
        is_comment = in_comment or bool(re.match(r" *(///|/[*] )", line))
        in_comment = is_comment and not re.match(r" *///", line) and "*/" not in line
        if number == 3 and line.startswith("/* "):
            shown = shown.replace("/** ", "/** @file\n", 1)
        private = line == " private:" or private and line != "};"
        if private or LEFT_OUT.match(line):
            shown = ""
        elif match := SEVERAL.match(line):
            words = " ".join(re.sub(r"^ *(///|/[*]) ?|[*]/", "", one).strip() for one in before)
            shown = one_by_one(match, f"/** {escape(words)} */" if words else "")
        elif not before and (words := next((words for form, words in BY_CONVENTION if re.match(form, line)), "")):
            shown = f"/** {words} */ {line}"
        before = [*before, line] if is_comment else []
        print(("/** @file */ " if number == 1 else "") + shown)


main(sys.argv[1])

"""Writes src/heed/text/unicode/tables.cc: what Python's `tokenizers` takes every code point for.

    python tests/golden/tokenizers/unicode_tables.py src/heed/text/unicode/tables.cc

The library is made of parts that follow different versions of Unicode (the regular expressions, the
classes of its BERT parts, its normal forms), so each part is asked about each code point.
"""

import sys
import unicodedata

from tokenizers import Regex, __version__, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
SCRIPTS = "Latin Greek Cyrillic Hebrew Arabic Thai Hangul Hiragana Katakana Han".split()


def matched(pattern):
    split = pre_tokenizers.Split(Regex(pattern), behavior="removed", invert=True)
    found = set()
    for begin in range(0, len(CODE_POINTS), 50000):
        text = "".join(map(chr, CODE_POINTS[begin : begin + 50000]))
        for piece, _ in split.pre_tokenize_str(text):
            found.update(map(ord, piece))
    return found


def removed_by(normalizer):
    return {c for c in CODE_POINTS if normalizer.normalize_str(f"q{chr(c)}q") == "qq"}


def isolated_by(pre_tokenizer):
    return {c for c in CODE_POINTS if len(pre_tokenizer.pre_tokenize_str(f"a{chr(c)}a")) == 3}


def bert(**options):
    plain = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**plain, **options})


def joined_to_words():
    whitespace = pre_tokenizers.Whitespace()
    return {c for c in CODE_POINTS if len(whitespace.pre_tokenize_str(f"a{chr(c)}a")) == 1}


def inert(unassigned):
    """What newer versions of Unicode decompose, compose or reorder and the library does not know."""
    nfd, nfkd = normalizers.NFD(), normalizers.NFKD()
    found = set()
    for c in CODE_POINTS:
        text = chr(c)
        new = unicodedata.category(text) == "Cn" and c not in unassigned
        before, after = f"a{text}\u0334", f"a\u0345{text}"
        moves = nfd.normalize_str(before) != before or nfd.normalize_str(after) != after
        differs = nfkd.normalize_str(text) != unicodedata.normalize("NFKD", text)
        if new or differs or (unicodedata.combining(text) and not moves):
            found.add(c)
            if differs:
                canonical = unicodedata.normalize("NFD", text)
                found.update(ord(part) for part in canonical if canonical != text)
    return found


def lower_case():
    """Where the library's lower case is not that of Python's (older) Unicode."""
    lowercase = normalizers.Lowercase()
    pairs = []
    for c in CODE_POINTS:
        lower = lowercase.normalize_str(chr(c))
        if lower != chr(c).lower():
            pairs.append((c, ord(lower)))
    return pairs


def edges(members):
    result = []
    for c in sorted(members):
        if result and result[-1] == c:
            result[-1] = c + 1
        else:
            result += [c, c + 1]
    # Surrogates are no text: bridging them makes ranges fewer.
    return [e for i, e in enumerate(result) if not bridges_surrogates(result, i)]


def bridges_surrogates(result, i):
    left, right = (i, i + 1) if i % 2 else (i - 1, i)
    return 0 < left and right < len(result) and (result[left], result[right]) == (0xD800, 0xE000)


def category_runs():
    of = {}
    for index, name in enumerate(CATEGORIES):
        for c in matched(rf"\p{{{name}}}"):
            of[c] = index
    runs, last = [], None
    for c in CODE_POINTS:
        if of[c] != last:
            runs.append((c, of[c]))
            last = of[c]
    return runs


def digits(value):
    """Hexadecimal; the last digit is one of g to v, so that numbers need no space between them."""
    return f"{value >> 4:x}"[: 0 if value < 16 else None] + chr(ord("g") + value % 16)


def deltas(values):
    return "".join(digits(b - a) for a, b in zip([0] + values, values))


def category_text(runs):
    starts = [start for start, _ in runs]
    letters = [chr(ord("A") + index) if index < 26 else "!#$"[index - 26] for _, index in runs]
    return "".join(digits(b - a) + x for a, b, x in zip([0] + starts, starts, letters))


def constant(name, text):
    lines = [text[i : i + 94] for i in range(0, len(text), 94)]
    body = "\n".join(f'    "{line}"' for line in lines)
    return f"const std::string_view {name} =\n{body};\n"


def main(path):
    unassigned = matched(r"\p{Cn}")
    sets = {
        "regex_word": matched(r"\w"),
        "regex_space": matched(r"\s"),
        "word": joined_to_words(),
        "numeric": isolated_by(pre_tokenizers.Digits(individual_digits=True)),
        "punctuation": isolated_by(pre_tokenizers.Punctuation()),
        "control": removed_by(bert(clean_text=True)) - {0, 0xFFFD},
        "nonspacing_mark": removed_by(bert(strip_accents=True)),
        "combining_mark": removed_by(normalizers.StripAccents()),
        "inert": inert(unassigned),
    }
    for script in SCRIPTS:
        sets[f"script_{script.lower()}"] = matched(rf"\p{{{script}}}")
    parts = [constant(name, deltas(edges(members))) for name, members in sets.items()]
    parts.append(constant("general_category", category_text(category_runs())))
    parts.append(constant("lower_case", "".join(digits(c) for pair in lower_case() for c in pair)))
    with open(path, "w") as out:
        out.write(
            f"// Generated by tests/golden/tokenizers/unicode_tables.py from tokenizers {__version__}.\n"
            "// clang-format off\n"
            '#include "heed/text/unicode/tables.h"\n\n'
            "namespace heed::text::tables {\n\n" + "\n".join(parts) + "\n}  // namespace heed::text::tables\n"
        )


main(sys.argv[1])

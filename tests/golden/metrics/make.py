"""Records what sacrebleu says about corpora written for this test.

    pip install sacrebleu==2.6.*
    python tests/golden/metrics/make.py

Writes expected.json beside this file: corpora with BLEU, chrF2 and chrF2++, and lines with their
13a tokens.
"""

import json
import pathlib
import random

from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

HERE = pathlib.Path(__file__).resolve().parent

# Name: [(hypothesis, reference), ...]
CASES = {
    "equal": [("The old sailor forgot the lighthouse .", "The old sailor forgot the lighthouse .")],
    "equal_without_punctuation": [("a b c d e f", "a b c d e f")],
    "nothing_in_common": [("red green blue pink", "uno due tre quattro")],
    "no_character_in_common": [("aaaa bbbb", "cccc dddd")],
    "empty_hypothesis": [("", "The old sailor forgot the lighthouse.")],
    "empty_reference": [("The old sailor forgot the lighthouse.", "")],
    "both_empty": [("", "")],
    "spaces_only": [("   ", " \t ")],
    "some_empty_hypotheses": [("", "one two three four five"), ("six seven eight nine", "six seven eight nine")],
    "some_empty_references": [("one two three four five", ""), ("six seven eight nine", "six seven eight nine")],
    "one_word_right": [("yes", "yes")],
    "one_word_wrong": [("yes", "no")],
    "one_character": [("a", "a")],
    "one_character_of_many": [("a", "abcdefgh ijkl")],
    "two_words": [("good morning", "good morning")],
    "three_words": [("a good morning", "a good morning")],
    "four_words": [("such a good morning", "such a good morning")],
    "four_words_last_wrong": [("such a good evening", "such a good morning")],
    "no_bigram": [("c b a d", "a b c d")],
    "no_trigram": [("a b x c d y e f", "a b c d e f g h")],
    "no_fourgram": [("a b c x d e f", "a b c d e f g")],
    "much_shorter": [("the lighthouse", "the old sailor forgot the lighthouse before the storm")],
    "much_longer": [("the old sailor forgot the lighthouse before the storm", "the lighthouse")],
    "repetition_is_clipped": [("the the the the the the the", "the cat is on the mat")],
    "case_matters": [("THE OLD SAILOR FORGOT", "the old sailor forgot")],
    "entities": [("&quot;Hi&quot; &amp; &lt;b&gt; &apos;", '"Hi" & <b> &apos;')],
    "nested_entities": [("&amp;lt; &amp;quot; &amp;amp;", "< &quot; &")],
    "unfinished_entities": [("& &am; &quot &lt", "& &am; &quot &lt ;")],
    "skipped_segments": [("a <skipped> b<skipped>c d e", "a b c d e")],
    "hyphen_at_line_end": [("co-\noperate with them all", "cooperate with them all")],
    "line_break_inside": [("a b\nc d e f", "a b c d e f")],
    "numbers": [("It costs 1,234.56 or 1.234,56 euros.", "It costs 1,234.56 or 1.234 , 56 euros .")],
    "dots_and_commas": [("wait... what,, no.5 5. ,5 .", "wait ... what , , no . 5 5 . , 5 .")],
    "runs_of_dots": [("a.... b..... 1...2 .... .,.,", "a .... b ..... 1 ... 2 .... . , . ,")],
    "hyphens_and_digits": [("2019-2020 is 5-6 well-known -7 x-9 9-x", "2019 - 2020 is 5 - 6 well-known -7 x-9 9 - x")],
    "apostrophes": [("don't 'quote' it's o'clock''", "do n't ' quote ' it 's o'clock ''")],
    "brackets": [("(a) [b] {c} <d> f(x)[i]{k}", "( a ) [ b ] { c } < d > f(x) [i] {k}")],
    "all_ascii_symbols": [("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "! \" # $ % & ' ( ) * + , - . / : ; < = > ? @ [ \\ ] ^ _ ` { | } ~")],
    "urls": [("see http://a.example/x?y=1&z=2#q now", "see http : / / a.example / x ? y = 1 & z = 2 # q now")],
    "accents": [("El niño comió piñas en Zürich.", "El niño comió peras en Zürich.")],
    "decomposed_is_different": [("cafe\u0301 noir sans sucre", "café noir sans sucre")],
    "cyrillic": [("Старый моряк забыл маяк.", "Старый моряк забыл про маяк.")],
    "greek_question": [("τι κάνεις; καλά", "τι κάνεις ; καλά")],
    "arabic": [("البحار العجوز نسي المنارة.", "نسي البحار العجوز المنارة .")],
    "chinese_without_spaces": [("老水手忘记了灯塔。", "老水手忘了那座灯塔。")],
    "fullwidth_punctuation": [("你好，世界！１２３．４", "你好 ， 世界 ！ １２３ ．４")],
    "typographic_quotes": [("“Hi” – she said… ‘ok’", "\"Hi\" - she said... 'ok'")],
    "emoji": [("good 🦉 night 👩\u200d👧 🇨🇭.", "good 🦉 night 👩\u200d👦 🇨🇭 .")],
    "no_break_space": [("10\u00a0000 euros\u202f!", "10 000 euros !")],
    "unicode_spaces": [("a\u2003b\u3000c\u1680d\u2028e\u2029f\u205fg\u0085h", "a b c d e f g h")],
    "not_spaces": [("a\u200bb c\u2060d e\ufefff g\u180eh", "a b c d e f g h")],
    "control_characters": [("a\x1cb\x1dc\x1ed\x1fe f\x0bg\x0ch\x01i\x7fj", "a b c d e f g h i j")],
    "trailing_unicode_spaces": [("a b c d\u3000\u00a0\n", "a b c d")],
    "leading_spaces": [("  \u3000 a b c d", "a b c d")],
    "tabs_and_carriage_returns": [("a\tb\r\nc\rd e", "a b c d e")],
    "arabic_digits": [("١٢٣,٤٥ ٣.٥ ٣-٤ end", "١٢٣ , ٤٥ ٣ . ٥ ٣ - ٤ end")],
    "superscript_digits": [("x².y m³,z", "x² . y m³ , z")],
    "letters_beside_stops": [("é.é ñ,ñ 漢.漢 a.é", "é . é ñ , ñ 漢 . 漢 a . é")],
    "already_tokenised": [("The old sailor , forgot ( it ) .", "The old sailor, forgot (it).")],
    "punctuation_only": [("... !!! ???", ". . . ! ! ! ? ? ?")],
    "marks_at_both_ends": [("(hi) \"ok\" 'a' -b- ,c é! !é !", "( hi ) \" ok \" ' a ' - b - , c é ! ! é !")],
    "long_repetition": [("ab " * 60, "ba " * 55)],
    "short_and_long": [("a", "a"), ("b c", "b d"), ("one two three four five six", "one two three four five six seven")],
    "mixed_scripts": [("Der Bäcker 面包师 пекарь says 'hi'.", "Der Bäcker 面包师 пекарь said 'hi' .")],
    "astral_against_basic": [("\U0001d400\U0001d401 \U0001d402", "AB C \U0001d402")],
}

WORDS = (
    "the old sailor forgot a lighthouse before storm it's well-known 1,000 3.14 2019-2020 Zürich café niño "
    "(maybe) \"so\" what? no! yes; e.g. U.S. 漢字 маяк 🦉 10% $5 & &quot; a/b x_y co-op ¿qué? l'eau … – , . -"
).split(" ")


def random_corpus(seed, lines):
    rng = random.Random(seed)
    pairs = []
    for _ in range(lines):
        reference = [rng.choice(WORDS) for _ in range(rng.randint(0, 12))]
        hypothesis = list(reference)
        for _ in range(rng.randint(0, 4)):
            place = rng.randint(0, len(hypothesis))
            hypothesis[place : place + rng.randint(0, 2)] = rng.choices(WORDS, k=rng.randint(0, 2))
        join = [" ", " ", " ", "", "  "]
        pairs.append(
            tuple("".join(word + rng.choice(join) for word in side) for side in (hypothesis, reference))
        )
    return pairs


def scored(name, pairs):
    hypotheses = [hypothesis for hypothesis, _ in pairs]
    references = [[reference for _, reference in pairs]]
    bleu = BLEU().corpus_score(hypotheses, references)
    return {
        "name": name,
        "hypotheses": hypotheses,
        "references": references[0],
        "bleu": bleu.score,
        "precisions": bleu.precisions,
        "brevity_penalty": bleu.bp,
        "hypothesis_length": int(bleu.sys_len),
        "reference_length": int(bleu.ref_len),
        "bleu_text": str(bleu),
        "chrf": CHRF().corpus_score(hypotheses, references).score,
        "chrf_text": str(CHRF().corpus_score(hypotheses, references)),
        "chrf_plus_plus": CHRF(word_order=2).corpus_score(hypotheses, references).score,
        "chrf_plus_plus_text": str(CHRF(word_order=2).corpus_score(hypotheses, references)),
    }


def signature(metric):
    metric.corpus_score(["a"], [["a"]])
    return str(metric.get_signature()).rsplit("|", 1)[0]


def main():
    corpora = dict(CASES)
    for seed, lines in enumerate([1, 1, 1, 2, 2, 5, 5, 10, 20, 50, 300]):
        corpora[f"random_{seed}"] = random_corpus(seed, lines)
    tokenize = Tokenizer13a()
    lines = [line for pairs in CASES.values() for pair in pairs for line in pair]
    lines += [line for pair in random_corpus(99, 30) for line in pair]
    expected = {
        "signatures": [signature(BLEU()), signature(CHRF()), signature(CHRF(word_order=2))],
        "corpora": [scored(name, pairs) for name, pairs in corpora.items()],
        "tokens": [{"text": line, "tokens": tokenize(line.rstrip()).split()} for line in lines],
    }
    text = json.dumps(expected, ensure_ascii=True, separators=(",", ":"))
    text = text.replace('{"name"', '\n{"name"').replace('{"text"', '\n{"text"')
    (HERE / "expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

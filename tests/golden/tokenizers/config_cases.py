"""Records what transformers' AutoTokenizer does with the tokenizers beside this file when the other
files of a model directory say something else.

    pip install transformers==5.24.* tokenizers==0.23.* sentencepiece==0.2.* protobuf
    python tests/golden/tokenizers/config_cases.py

Writes config_cases.json: for each case its files, and of each line the ids with special tokens, and the
text of the ids without special tokens.
"""

import json
import pathlib
import shutil
import tempfile

HERE = pathlib.Path(__file__).parent
LINES = ["the cat sat on the mat.", "The CAT, Café 北京 naïve", " leading  spaces ", "a <extra> b <s> c</s> d",
         "<mask> the [MASK] x<new>y", "do n't say ' it ' !", ""]

BERT = {"tokenizer_class": "BertTokenizer"}
ADDED = {"content": "<extra>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False,
         "special": False}
MARKS = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
CASES = [
    # name, tokenizer, tokenizer_config.json, other files
    ("bert", "bert_uncased", BERT, {}),
    ("bert_cased", "bert_uncased", {**BERT, "do_lower_case": False}, {}),
    ("bert_accents", "bert_uncased", {**BERT, "strip_accents": False}, {}),
    ("bert_chinese", "bert_uncased", {**BERT, "tokenize_chinese_chars": False}, {}),
    ("bert_lowered", "distilbert_cased", {"tokenizer_class": "DistilBertTokenizerFast"}, {}),
    ("bert_by_model", "distilbert_cased", {}, {"config.json": {"model_type": "distilbert"}}),
    ("bert_as_is", "distilbert_cased", {"tokenizer_class": "PreTrainedTokenizerFast"}, {}),
    ("bert_sep", "bert_uncased", {**BERT, "sep_token": "[MASK]"}, {}),
    ("bert_clean", "bert_uncased", {**BERT, "clean_up_tokenization_spaces": True}, {}),
    ("gpt2_prefix", "gpt2", {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}, {}),
    ("bart_prefix", "bart", {"tokenizer_class": "BartTokenizer"}, {}),
    ("roberta", "roberta", {"tokenizer_class": "RobertaTokenizerFast", "add_prefix_space": True}, {}),
    ("qwen2", "qwen2", {"tokenizer_class": "Qwen2TokenizerFast", "pad_token": "<new>"}, {}),
    ("llama", "llama2", {"tokenizer_class": "LlamaTokenizerFast"}, {}),
    ("llama_legacy", "llama2", {"tokenizer_class": "LlamaTokenizer", "legacy": True}, {}),
    ("llama_no_prefix", "llama2", {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False}, {}),
    ("t5", "t5", {"tokenizer_class": "T5Tokenizer", "clean_up_tokenization_spaces": True}, {}),
    ("xlm_roberta", "xlm_roberta", {"tokenizer_class": "XLMRobertaTokenizer"}, {}),
    ("albert", "xlm_roberta", {"tokenizer_class": "AlbertTokenizer", **MARKS}, {}),
    ("albert_cased", "xlm_roberta", {"tokenizer_class": "AlbertTokenizerFast", "do_lower_case": False,
                                     "keep_accents": True, "add_prefix_space": False, **MARKS}, {}),
    ("deberta_v2", "xlm_roberta", {"tokenizer_class": "DebertaV2Tokenizer", **MARKS}, {}),
    ("deberta_v2_punct", "xlm_roberta", {"do_lower_case": True, "split_by_punct": True, "add_prefix_space": False,
                                         **MARKS}, {"config.json": {"model_type": "deberta-v2"}}),
    ("gemma", "gemma2", {"tokenizer_class": "GemmaTokenizer", "additional_special_tokens": ["<new>", "<extra>"]}, {}),
    ("added_decoder", "gpt2", {"added_tokens_decoder": {"9": ADDED}}, {}),
    ("added_special", "gpt2", {"additional_special_tokens": ["<extra>", "<new>"]}, {}),
    ("extra_special", "gpt2", {"extra_special_tokens": {"image": "<new>"}, "video_token": "<extra>"}, {}),
    ("pad_token", "gpt2", {"pad_token": "<new>", "mask_token": {"__type": "AddedToken", **ADDED, "content": "<mask>"}}, {}),
    ("split_special", "gpt2", {"split_special_tokens": True, "pad_token": "<new>"}, {}),
    ("map", "gpt2", {"pad_token": "<extra>"}, {"special_tokens_map.json": {"pad_token": "<new>"}}),
    ("map_unused", "gpt2", {"added_tokens_decoder": {}}, {"special_tokens_map.json": {"pad_token": "<new>"}}),
    ("added_file", "gpt2", {}, {"added_tokens.json": {"<new>": 7000}}),
]


def main():
    from transformers import AutoTokenizer
    from transformers.utils import logging
    logging.set_verbosity_error()
    results = []
    for name, tokenizer, config, files in CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            shutil.copy(HERE / f"{tokenizer}.json", path / "tokenizer.json")
            files = {"tokenizer_config.json": config, "config.json": {}, **files}
            if not files["config.json"] and "tokenizer_class" not in config:
                config["tokenizer_class"] = "TokenizersBackend"
            for file, contents in files.items():
                (path / file).write_text(json.dumps(contents))
            reference = AutoTokenizer.from_pretrained(folder)
            lines = []
            for line in LINES:
                ids = reference(line)["input_ids"]
                bare = reference(line, add_special_tokens=False)["input_ids"]
                lines.append({"text": line, "ids": ids, "decoded": reference.decode(bare, skip_special_tokens=True)})
            results.append({"name": name, "tokenizer": tokenizer, "files": files, "lines": lines})
    text = ",\n".join(json.dumps(result, ensure_ascii=False) for result in results)
    (HERE / "config_cases.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes expected.json: outputs of transformers' constrained beam search (force_words_ids).

"cases": those of the models of ../families, with the scorer changed as heed defines the search (use_changed_scorer).
"wide": those of the model in wide/, which this writes, too, by transformers as it is. The beam has room for all outputs,
and what transformers fills it up with, outputs without the terms, is left out.

Needs torch, safetensors and transformers 4.46, a version that still has constrained beam search.
"""
import inspect
import json
import pathlib
import random
import tempfile
import textwrap

import torch
import transformers
from safetensors.torch import load_file
from transformers.generation import beam_constraints, beam_search

HERE = pathlib.Path(__file__).parent
FAMILIES = HERE.parent / "families"
MODELS = ("bart", "t5", "gpt2")  # whose config.json this version reads as later ones do
NEW_TOKENS = 12
CASES = 24
WIDE_TERMS = ([[[3]]], [[[3]], [[4]]], [[[3], [4]]], [[[3, 4]]], [[[5, 3]], [[4]]], [[[5, 4], [2]]])


def changed_source(function, *changes):
    source = textwrap.dedent(inspect.getsource(function))
    for theirs, ours in changes:
        assert source.count(theirs) == 1, theirs
        source = source.replace(theirs, ours)
    return source


def compiled(source, module, name):
    namespace = vars(module)
    own = {}
    exec(source, namespace, own)
    return own[name]


def use_penalty_of_wu():
    """heed's length penalty is that of Wu et al. 2016."""
    beam_search.BeamHypotheses.add = compiled(
        changed_source(beam_search.BeamHypotheses.add, (
            "sum_logprobs / (generated_len**self.length_penalty)",
            "sum_logprobs / (((5 + generated_len) / 6) ** self.length_penalty)")), beam_search, "add")


def mend_finalize():
    """Without this it fails if some outputs lack the terms and others do not."""
    scorer = beam_search.ConstrainedBeamSearchScorer
    scorer.finalize = compiled(changed_source(scorer.finalize, (
        "beam_hyp.add(final_tokens, final_score, generated_len=generated_len)",
        "beam_hyp.add(final_tokens, final_score, beam_indices[batch_beam_idx], generated_len=generated_len)")),
        beam_search, "finalize")


def use_changed_scorer():
    """What heed does otherwise, each time because transformers loses outputs that contain the terms:

    1. A token that breaks off a term may begin it again: after "a", "a b" is found in "a a b".
    2. Each hypothesis's most probable token is a candidate, as in Post & Vilar 2018. Else those that wrote an
       improbable term are dropped at once, since only the best continuations of all are kept.
    3. An end is compared with the candidates of its bank, not with hypotheses without the terms, beside which it would
       seldom be among the best. Ends of hypotheses without the terms take no rank.
    4. A disjunctive constraint that is copied does not share its progress with the original.
    5. Tokens after which the missing terms would not fit into the limit of tokens are forbidden.
    """
    scorer = beam_search.ConstrainedBeamSearchScorer
    state = beam_constraints.ConstraintListState
    disjunctive = beam_constraints.DisjunctiveConstraint
    state.add = compiled(changed_source(state.add, (
        "            self.inprogress_constraint = None\n\n        if complete:",
        "            self.inprogress_constraint = None\n            return self.add(token_id)\n\n        if complete:")),
        beam_constraints, "add")
    disjunctive.copy = compiled(changed_source(disjunctive.copy, (
        "new_constraint.current_seq = self.current_seq", "new_constraint.current_seq = list(self.current_seq)")),
        beam_constraints, "copy")

    def fewest_missing(scorer, sequence):
        own = scorer.make_constraint_states(1)[0]
        own.reset(sequence)
        def tokens(constraint, done=0):
            if isinstance(constraint, beam_constraints.PhrasalConstraint):
                return len(constraint.token_ids) - done
            return min(len(one) for one in constraint.token_ids if one[:done] == constraint.current_seq[:done]) - done
        missing = sum(tokens(one) for one in own.pending_constraints)
        one = own.inprogress_constraint
        if one is not None:
            phrase = isinstance(one, beam_constraints.PhrasalConstraint)
            missing += min(tokens(one, one.fulfilled_idx + 1 if phrase else len(one.current_seq)), tokens(one))
        return missing

    def process(self, input_ids, next_scores, next_tokens, next_indices, scores_for_all_vocab, pad_token_id=None,
                eos_token_id=None, beam_indices=None, decoder_prompt_len=0):
        """For a batch of one. All hypotheses have the same length."""
        assert len(self._beam_hyps) == 1
        ends, width = eos_token_id.tolist(), self.num_beams
        room = NEW_TOKENS - (input_ids.shape[1] - decoder_prompt_len)
        sequences = [row.tolist() for row in input_ids]
        live = [i for i in range(width) if scores_for_all_vocab[i].max() > -1e8]
        scores = scores_for_all_vocab.double()
        for i in live:
            missing = fewest_missing(self, sequences[i])
            if missing > 0:
                scores[i, ends] = -torch.inf
                from_start = sum(min(map(len, one.token_ids)) if isinstance(one, disjunctive) else len(one.token_ids)
                                 for one in self.constraints)
                for token in range(scores.shape[1]) if from_start >= room else ():
                    if fewest_missing(self, sequences[i] + [token]) >= room:
                        scores[i, token] = -torch.inf
        candidates = {}
        values = scores.tolist()
        order = sorted((-values[i][t], i, t) for i in live for t in range(scores.shape[1]))
        continued = 0
        for score, i, t in order[:(1 + len(ends)) * width]:
            continued += t not in ends
            if continued > width:
                break
            candidates[i, t] = -score
        for i in live:
            own = self.make_constraint_states(1)[0]
            own.reset(sequences[i])
            extra = [] if own.completed else own.advance()
            for t in extra + [scores[i].argmax().item()]:
                candidates[i, t] = scores[i, t].item()
        banks = {}
        for (i, t), score in candidates.items():
            if score > -torch.inf:
                own = self.make_constraint_states(1)[0]
                own.reset(sequences[i] + ([] if t in ends else [t]))
                banks.setdefault(own.get_bank(), []).append((-score, i, t))
        ranked = sorted((rank, -bank, score, i, t) for bank, members in banks.items()
                        for rank, (score, i, t) in enumerate(sorted(members)))
        chosen = []
        for rank, (_, _, score, i, t) in enumerate(ranked):
            if t in ends:
                if rank < width:
                    self._beam_hyps[0].beams.append((-score / (
                        ((5 + NEW_TOKENS - room + 1) / 6) ** self.length_penalty), input_ids[i].clone(),
                        beam_indices[i] + (i,)))
                    self._beam_hyps[0].worst_score = min(one[0] for one in self._beam_hyps[0].beams)
            elif len(chosen) < width:
                chosen.append((-score, t, i))
        self._done[0] = len(self._beam_hyps[0]) >= width
        chosen += [(-1e9, pad_token_id, 0)] * (width - len(chosen))
        return {"next_beam_scores": torch.tensor([one[0] for one in chosen], dtype=torch.float32),
                "next_beam_tokens": torch.tensor([one[1] for one in chosen]),
                "next_beam_indices": torch.tensor([one[2] for one in chosen])}

    scorer.process = process


def prompts_of(family, encoded):
    tensors = load_file(FAMILIES / family / "expected.safetensors")
    ids, offsets = (tensors["source_ids"], tensors["source_offsets"]) if encoded else (
        tensors["input_ids"], tensors["offsets"])
    return [ids[a:b].tolist() for a, b in zip(offsets, offsets[1:])][:2]


def outputs_of(model, settings, prompt, new_tokens=NEW_TOKENS, **options):
    """Each output without prompt and end, with its score."""
    config = transformers.GenerationConfig(pad_token_id=0, **settings)
    found = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                           generation_config=config, max_new_tokens=new_tokens, do_sample=False, use_cache=False,
                           return_dict_in_generate=True, output_scores=True, early_stopping=True, **options)
    first = 1 if model.config.is_encoder_decoder else len(prompt)
    results = []
    for row, score in zip(found.sequences.tolist(), found.sequences_scores.tolist()):
        tokens = row[first:]
        end = tokens.index(settings["eos_token_id"]) if settings["eos_token_id"] in tokens else len(tokens)
        if score > -1e6:  # else it fills the beam
            results.append({"tokens": tokens[:end], "score": round(score, 5)})
    return results


def end_of(outputs):
    """Random models seldom end an output: a token that most outputs have, not too early, is the end."""
    def rank(token):
        places = [output.index(token) for output in outputs if token in output]
        return sum(1 if place >= 3 else -1 for place in places), -token
    return max(sorted(set(sum(outputs, []))), key=rank)


def random_terms(generator, tokens):
    """Terms of which no two have a token in common, some with alternatives."""
    tokens = generator.sample(tokens, 12)
    terms = []
    for _ in range(generator.choice((1, 1, 2, 3))):
        first = [tokens.pop() for _ in range(generator.choice((1, 1, 2, 3)))]
        alternatives = [first]
        if generator.random() < 0.3:
            alternatives.append([tokens.pop()] + ([first[-1]] if len(first) == 2 else []))
        if len(first) > 1 and generator.random() < 0.2:
            alternatives.append([first[0], tokens.pop()])
        terms.append(alternatives)
    return terms


def forced(terms):
    """Terms as force_words_ids has them."""
    return [one[0] if len(one) == 1 else one for one in terms]


def decode_cases(model, settings, prompts, terms, width):
    options = {"num_beams": width, "num_return_sequences": width, "length_penalty": 0.6}
    return [outputs_of(model, settings, prompt, force_words_ids=forced(terms), **options) for prompt in prompts]


def contains(output, terms):
    return all(any(output[i:i + len(one)] == one for one in alternatives for i in range(len(output)))
               for alternatives in terms)


def wide_cases():
    torch.manual_seed(5)
    config = transformers.BartConfig(
        vocab_size=6, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32, init_std=0.6,
        pad_token_id=0, bos_token_id=2, eos_token_id=1, decoder_start_token_id=2, forced_eos_token_id=None)
    model = transformers.BartForConditionalGeneration(config).eval()
    model.generation_config = transformers.GenerationConfig()
    model.save_pretrained(HERE / "wide")
    (HERE / "wide" / "generation_config.json").unlink(missing_ok=True)
    source = [3, 4, 5, 1]
    for terms in WIDE_TERMS:
        outputs = outputs_of(model, {"eos_token_id": 1, "decoder_start_token_id": 2}, source, new_tokens=3,
                             force_words_ids=forced(terms), num_beams=256, num_return_sequences=256, length_penalty=0.0)
        unique = {tuple(one["tokens"]): one for one in reversed(outputs) if contains(one["tokens"], terms)}
        yield {"terms": terms, "source": source,
               "outputs": sorted(unique.values(), key=lambda one: one["score"], reverse=True)}


def main():
    torch.set_num_threads(1)
    use_penalty_of_wu()
    mend_finalize()
    wide = list(wide_cases())
    generator = random.Random(17)
    cases, models, outputs, without = [], {}, 0, 0
    for family in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("config.json", "model.safetensors"):
                (pathlib.Path(folder) / name).symlink_to(FAMILIES / family / name)
            config = transformers.AutoConfig.from_pretrained(folder)
            kind = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
            model = kind.from_pretrained(folder, torch_dtype=torch.float32).eval()
        start = {"decoder_start_token_id": config.decoder_start_token_id} if config.is_encoder_decoder else {}
        model.generation_config = transformers.GenerationConfig()
        prompts = prompts_of(family, config.is_encoder_decoder)
        plain = [outputs_of(model, {"eos_token_id": 0, **start}, prompt, num_beams=2)[0]["tokens"] for prompt in prompts]
        eos = end_of(plain)
        settings = {**start, "eos_token_id": eos}
        used = {start.get("decoder_start_token_id"), eos, 0, *sum(prompts, [])}
        free = [token for token in range(4, config.vocab_size) if token not in used]
        models[family] = (model, settings, prompts)
        for _ in range(CASES // len(MODELS)):
            terms, width = random_terms(generator, free), generator.choice((2, 4, 8))
            cases.append({"model": family, "eos": eos, "terms": terms, "num_beams": width})
            found = decode_cases(model, settings, prompts, terms, width)
            outputs += sum(map(len, found))
            without += sum(not contains(one["tokens"], terms) for some in found for one in some)
    print(f"{without} of {outputs} outputs of transformers as it is do not contain the terms")
    use_changed_scorer()
    for case in cases:
        case["outputs"] = decode_cases(*models[case["model"]], case["terms"], case["num_beams"])
    parts = {name: ",\n".join(json.dumps(case) for case in some) for name, some in (("cases", cases), ("wide", wide))}
    (HERE / "expected.json").write_text(
        "{" + ",\n".join(f'"{name}": [\n{lines}\n]' for name, lines in parts.items()) + "}\n")


main()

#include "heed/tokenizer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "heed/text/tokenizer_options.h"
#include "model.h"
#include "options.h"
#include "value_class.h"

// Tokenizers without a model.
namespace heed::python {
namespace {

/// By the names of `heed tokenizer train --kind`.
TrainTokenizerOptions::Kind kind_from(const std::string& name) {
  using Kind = TrainTokenizerOptions::Kind;
  if (name == "byte-level-bpe") return Kind::byte_level_bpe;
  if (name == "bpe") return Kind::bpe;
  if (name == "unigram") return Kind::unigram;
  wrong_value("kind is '" + name + "', expected byte-level-bpe, bpe or unigram");
}

Tokenizer train_tokenizer(nb::handle texts, const Options& options) {
  const Arguments lines(texts_from(texts, "texts"));
  Keywords keywords(options);
  TrainTokenizerOptions train_options;
  if (const nb::object kind = keywords.take("kind"))
    train_options.kind = kind_from(text_from(kind, "kind"));
  text::TrainTokenizerOption::for_each([&]<typename Option>(const Option& option) {
    if constexpr (!std::is_enum_v<typename Option::Number>)
      keywords.read(option.key.data(), train_options.*option.field);
  });
  keywords.finish("Tokenizer.train");
  return run([&] { return Tokenizer::train(*lines, train_options); });
}

/// Offsets count code points, as indices of a str do.
EncodeOptions take_encode_options(Keywords& keywords) {
  EncodeOptions options{.offsets = OffsetUnit::code_points};
  keywords.read("special", options.special);
  keywords.read("max_tokens", options.max_tokens);
  keywords.finish("encode");
  return options;
}

Encoding encode(const Tokenizer& tokenizer, nb::handle text, nb::handle pair,
                const Options& options) {
  const std::string first = text_from(text, "text");
  Keywords keywords(options);
  const EncodeOptions encode_options = take_encode_options(keywords);
  if (pair.is_none())
    return run([&] { return tokenizer.encode_with_offsets(first, encode_options); });
  const std::string second = text_from(pair, "pair");
  return run([&] { return tokenizer.encode_pair(first, second, encode_options); });
}

nb::typed<nb::list, Encoding> encode_batch(const Tokenizer& tokenizer, nb::handle texts,
                                           const Options& options) {
  const Arguments lines(texts_from(texts, "texts"));
  Keywords keywords(options);
  const EncodeOptions encode_options = take_encode_options(keywords);
  return list_of(run([&] { return tokenizer.encode_batch_with_offsets(*lines, encode_options); }));
}

std::string decode(const Tokenizer& tokenizer, nb::handle ids, bool skip_special) {
  const std::vector<int32_t> tokens = tokens_from(ids, "ids");
  return run([&] { return tokenizer.decode(tokens, skip_special); });
}

std::vector<std::pair<size_t, size_t>> offsets_of(const Encoding& encoding) {
  std::vector<std::pair<size_t, size_t>> offsets;
  for (const TokenOffsets& one : encoding.offsets) offsets.emplace_back(one.begin, one.end);
  return offsets;
}

void set_offsets(Encoding& encoding, const std::vector<std::pair<size_t, size_t>>& offsets) {
  encoding.offsets.clear();
  for (const auto& [begin, end] : offsets) encoding.offsets.push_back({begin, end});
}

nb::typed<nb::dict, nb::str, int> special_tokens_of(const Tokenizer& tokenizer) {
  const SpecialTokens& tokens = tokenizer.special_tokens();
  nb::dict ids;
  for (const auto& [role, id] :
       {std::pair{"bos", tokens.bos}, std::pair{"eos", tokens.eos}, std::pair{"pad", tokens.pad},
        std::pair{"unk", tokens.unk}, std::pair{"mask", tokens.mask}, std::pair{"sep", tokens.sep},
        std::pair{"cls", tokens.cls}})
    if (id) ids[role] = *id;
  return nb::typed<nb::dict, nb::str, int>(std::move(ids));
}

}  // namespace

void bind_tokenizer(nb::module_& m) {
  ValueClass<Encoding>(m, "Encoding", "The tokens of a text or of a pair of texts.")
      .field("ids", &Encoding::ids, "of the tokens, with those that belong around the text")
      .field("type_ids", &Encoding::type_ids, "the segment: 1 for what belongs to the second text")
      .field("sequence_ids", &Encoding::sequence_ids,
             "the text: 0 or 1, or -1 for an added special token")
      .field<std::vector<std::pair<size_t, size_t>>>(
          "offsets", &offsets_of, set_offsets,
          "begin and end in the text of each token, in code points")
      .finish()
      .def("__len__", [](const Encoding& one) { return one.ids.size(); });
  ValueClass<AddedToken>(m, "AddedToken", "A token that is found before a text is cut into pieces.")
      .field("id", &AddedToken::id, "in the vocabulary")
      .field("content", &AddedToken::content, "as it stands in a text")
      .field("special", &AddedToken::special, "left out of a decoded text unless it is asked for")
      .finish();
  nb::class_<Tokenizer>(m, "Tokenizer")
      .def_static(
          "load",
          [](nb::handle path) {
            const std::filesystem::path from = path_from(path, "path");
            return run([&] { return Tokenizer::load(from); });
          },
          nb::arg("path"))
      .def_static("train", &train_tokenizer, nb::arg("texts"), nb::arg("options"))
      .def("encode", &encode, nb::arg("text"), nb::arg("pair").none(), nb::arg("options"))
      .def("encode_batch", &encode_batch, nb::arg("texts"), nb::arg("options"))
      .def("decode", &decode, nb::arg("ids"), nb::arg("skip_special"))
      .def("token", &Tokenizer::token, nb::arg("id"))
      .def(
          "token_id",
          [](const Tokenizer& tokenizer, nb::handle token) {
            return tokenizer.token_id(text_from(token, "token"));
          },
          nb::arg("token"))
      .def_prop_ro("vocab_size", &Tokenizer::vocab_size)
      .def_prop_ro("warnings", &Tokenizer::warnings)
      .def_prop_ro("special_tokens", &special_tokens_of)
      .def_prop_ro("added_tokens", &Tokenizer::added_tokens)
      .def("files",
           [](const Tokenizer& tokenizer) {
             nb::dict files;
             for (const auto& [name, bytes] : tokenizer.files())
               files[name.c_str()] = nb::bytes(bytes.data(), bytes.size());
             return nb::typed<nb::dict, nb::str, nb::bytes>(std::move(files));
           })
      .def(
          "save",
          [](const Tokenizer& tokenizer, nb::handle directory) {
            const std::filesystem::path to = path_from(directory, "directory");
            run([&] { tokenizer.save(to); });
          },
          nb::arg("directory"));
}

}  // namespace heed::python

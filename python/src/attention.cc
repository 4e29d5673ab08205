#include "heed/attention.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "call.h"
#include "heed/inspect/attention/attention_page.h"
#include "heed/inspect/attention/attention_svg.h"
#include "heed/tasks/task_options.h"
#include "model.h"
#include "options.h"

namespace heed::python {
namespace {

/// The maps of one text, and what a figure says of it.
struct Attention {
  std::vector<AttentionMap> maps;
  inspect::AttentionTexts texts;
};

/// The tokens of both sides, as the maps have them.
void name_tokens(Attention& attention) {
  for (const AttentionMap& map : attention.maps) {
    const bool from_source = map.kind == AttentionKind::encoder_self;
    const bool to_source = map.kind != AttentionKind::decoder_self;
    (from_source ? attention.texts.source_tokens : attention.texts.target_tokens) = map.queries;
    (to_source ? attention.texts.source_tokens : attention.texts.target_tokens) = map.keys;
  }
}

Attention attention(const OpenModel& open, nb::handle text, const Options& options) {
  const Model model = open.get();
  const std::string read = text_from(text, "text");
  const auto attention_options = only_options<tasks::AttentionOption>(options, "attention");
  Attention result;
  result.maps = run([&] { return model.attention(read, attention_options); });
  result.texts.model_name = open.name();
  (model.has_encoder() ? result.texts.source_text : result.texts.target_text) = read;
  if (model.has_encoder()) result.texts.target_text = attention_options.target;
  name_tokens(result);
  return result;
}

Tensor tensor_of(const AttentionMap& map) {
  return Tensor::of({map.heads, std::ssize(map.queries), std::ssize(map.keys)},
                    std::span<const float>(map.weights));
}

/// Everything as an interactive page.
std::string page(const Attention& attention) {
  inspect::AttentionEncoder encoder;
  for (const AttentionMap& map : attention.maps) encoder.add({map.kind, map.layer}, tensor_of(map));
  return inspect::attention_page({attention.texts, encoder.finish()});
}

/// One head of a map, or the mean of all.
inspect::HeadMap head_map(const AttentionMap& map, std::optional<int> head) {
  const int64_t first = head ? *head - map.first_head : 0;
  if (first < 0 || first >= map.heads)
    wrong_value("head is " + std::to_string(*head) + ", expected " +
                std::to_string(map.first_head) + " to " +
                std::to_string(map.first_head + map.heads - 1));
  const auto cells = map.queries.size() * map.keys.size();
  const int64_t count = head ? 1 : map.heads;
  Tensor mean = Tensor::zeros({std::ssize(map.queries), std::ssize(map.keys)});
  for (int64_t h = first; h < first + count; ++h)
    for (size_t i = 0; i < cells; ++i)
      mean.data<float>()[i] +=
          map.weights[static_cast<size_t>(h) * cells + i] / static_cast<float>(count);
  return {.choice = {.kind = map.kind, .layer = map.layer, .head = head},
          .heads = map.heads,
          .weights = std::move(mean)};
}

std::string svg(const AttentionMap& map, std::optional<int> head, const std::string& figure) {
  if (figure != "lines" && figure != "heatmap")
    wrong_value("figure is '" + figure + "', expected lines or heatmap");
  Attention alone;
  alone.maps = {map};
  name_tokens(alone);
  return inspect::attention_svg(
      alone.texts, head_map(map, head),
      figure == "lines" ? inspect::AttentionFigure::lines : inspect::AttentionFigure::heatmap);
}

/// A view of the map's memory, which the array keeps alive.
nb::object weights(nb::handle self) {
  const auto& map = nb::cast<const AttentionMap&>(self);
  return nb::cast(nb::ndarray<nb::numpy, const float>(
      map.weights.data(), {static_cast<size_t>(map.heads), map.queries.size(), map.keys.size()},
      self));
}

}  // namespace

void bind_attention(nb::module_& m, nb::class_<OpenModel>& model) {
  nb::class_<AttentionMap>(m, "AttentionMap", "The attention weights of one layer.")
      .def_prop_ro(
          "kind", [](const AttentionMap& map) { return std::string(name_of(map.kind)); },
          "'encoder_self', 'decoder_self' or 'cross'")
      .def_ro("layer", &AttentionMap::layer, "counted from 0")
      .def_ro("first_head", &AttentionMap::first_head, "counted from 0; 0 unless a head was chosen")
      .def_ro("heads", &AttentionMap::heads, "H, the number of heads")
      .def_ro("queries", &AttentionMap::queries, "the tokens that look, as text")
      .def_ro("keys", &AttentionMap::keys, "the tokens that are looked at")
      .def_prop_ro("weights", &weights,
                   nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float32]"),
                   "[heads, queries, keys]; each row sums to 1")
      .def("svg", &svg, nb::arg("head") = nb::none(), nb::arg("figure") = "lines",
           "A figure of one head, or of the mean of all.")
      .def("_repr_svg_", [](const AttentionMap& map) { return svg(map, {}, "lines"); });
  nb::class_<Attention>(m, "Attention", "The attention weights of one text, a map for each layer.")
      .def_ro("maps", &Attention::maps)
      .def("page", &page, "A page of HTML that shows all maps, without network or other files.");
  model.def("attention", &attention, nb::arg("text"), nb::arg("options"));
}

}  // namespace heed::python

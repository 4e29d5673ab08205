#include "heed/constrain/schema/resources.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/constrain/schema/uri.h"

namespace heed::constrain {
namespace {

/// The draft that a "$schema" names.
Draft draft_of(const JsonDocument& document, JsonId schema, Draft otherwise) {
  const JsonId value = document.find(schema, "$schema");
  if (value == kNoJson || !document[value].is_string()) return otherwise;
  std::string_view uri = document[value].text;
  if (uri.ends_with('#')) uri.remove_suffix(1);
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (uri.starts_with(scheme)) uri.remove_prefix(scheme.size());
  }
  static constexpr std::array<std::pair<std::string_view, Draft>, 6> kDrafts = {
      {{"json-schema.org/draft-04/schema", Draft::k4},
       {"json-schema.org/draft-06/schema", Draft::k6},
       {"json-schema.org/draft-07/schema", Draft::k7},
       {"json-schema.org/draft/2019-09/schema", Draft::k2019},
       {"json-schema.org/draft/2020-12/schema", Draft::k2020},
       {"json-schema.org/schema", Draft::k2020}}};
  const auto* const known = std::find_if(kDrafts.begin(), kDrafts.end(),
                                         [uri](const auto& draft) { return draft.first == uri; });
  require(known != kDrafts.end(),
          "$schema at {} is {}, which is none of draft 4, 6, 7, 2019-09 and "
          "2020-12",
          quoted(document.pointer(value)), quoted(document[value].text));
  return known->second;
}

/// The string that the keyword `name` has, "" if it has none.
std::string string_member(const JsonDocument& document, JsonId schema, std::string_view name) {
  const JsonId value = document.find(schema, name);
  return value != kNoJson && document[value].is_string() ? document[value].text : std::string();
}

std::string without_fragment(const std::string& uri) { return uri.substr(0, uri.find('#')); }

}  // namespace

void SchemaResources::add(JsonId root, const std::string& uri) {
  const size_t first = begin_resource(root, uri, draft_of(document_, root, Draft::k2020));
  by_uri_.emplace(without_fragment(uri), first);
  resource_of_.resize(static_cast<size_t>(document_.size()), SIZE_MAX);
  visit(root, first);
  for (JsonId id = root; id < document_.size(); ++id) {
    size_t& own = resource_of_[static_cast<size_t>(id)];
    if (own == SIZE_MAX) own = index(document_[id].parent);
  }
}

size_t SchemaResources::begin_resource(JsonId schema, const std::string& uri, Draft draft) {
  Resource resource;
  resource.root = schema;
  resource.uri = uri;
  resource.draft = draft;
  resources_.push_back(std::move(resource));
  return resources_.size() - 1;
}

size_t SchemaResources::identify(JsonId schema, size_t parent) {
  const Draft draft = draft_of(document_, schema, resources_[parent].draft);
  // Up to draft 7 what stands beside "$ref" is ignored.
  if (draft <= Draft::k7 && document_.find(schema, "$ref") != kNoJson) return parent;
  std::string id = string_member(document_, schema, draft == Draft::k4 ? "id" : "$id");
  size_t own = parent;
  if (draft <= Draft::k7 && id.starts_with('#')) {
    if (id.size() > 1) resources_[own].anchors.emplace(id.substr(1), schema);
    return own;
  }
  if (!id.empty()) {
    const std::string uri = without_fragment(resolve_uri(resources_[parent].uri, id));
    if (resources_[parent].root == schema) {
      resources_[own].uri = uri;
    } else {
      own = begin_resource(schema, uri, draft);
    }
    by_uri_.emplace(uri, own);
    const std::string fragment = id.substr(std::min(id.find('#'), id.size()));
    if (fragment.size() > 1) resources_[own].anchors.emplace(fragment.substr(1), schema);
  }
  Resource& resource = resources_[own];
  if (draft >= Draft::k2019) {
    const std::string anchor = string_member(document_, schema, "$anchor");
    if (!anchor.empty()) resource.anchors.emplace(anchor, schema);
    const std::string dynamic = string_member(document_, schema, "$dynamicAnchor");
    if (!dynamic.empty()) resource.dynamic_anchors.emplace(dynamic, schema);
    const JsonId recursive = document_.find(schema, "$recursiveAnchor");
    if (recursive != kNoJson && document_[recursive].boolean && resource.root == schema) {
      resource.dynamic_anchors.emplace("", schema);
    }
  }
  return own;
}

void SchemaResources::visit(JsonId schema, size_t parent) {
  if (!document_[schema].is_object()) return;
  const size_t own = identify(schema, parent);
  resource_of_[static_cast<size_t>(schema)] = own;
  for (const auto& [name, value] : document_[schema].members) {
    for_each_subschema(document_, name, value, [this, own](JsonId child) { visit(child, own); });
  }
}

JsonId SchemaResources::resolve(JsonId from, std::string_view keyword,
                                const std::string& reference) const {
  const std::string uri = resolve_uri(resource(from).uri, reference);
  const std::string fragment = uri.substr(std::min(uri.find('#'), uri.size()));
  const auto found = by_uri_.find(without_fragment(uri));
  if (found == by_uri_.end()) {
    fail("{} at {} is {}, which lies outside of the schema: heed does not fetch it", keyword,
         quoted(document_.pointer(from)), quoted(reference));
  }
  const Resource& target = resources_[found->second];
  JsonId result = kNoJson;
  if (fragment.size() <= 1) {
    result = target.root;
  } else if (fragment[1] == '/') {
    result = document_.at_pointer(target.root, decode_percent(fragment.substr(1)));
  } else {
    const std::string anchor = decode_percent(fragment.substr(1));
    for (const auto* anchors : {&target.anchors, &target.dynamic_anchors}) {
      if (anchors->contains(anchor)) result = anchors->find(anchor)->second;
    }
  }
  if (result == kNoJson) {
    fail("{} at {} is {}, and the schema has nothing there", keyword,
         quoted(document_.pointer(from)), quoted(reference));
  }
  return result;
}

SchemaResources::Scope SchemaResources::enter(Scope scope, JsonId schema) {
  const size_t entered = index(schema);
  std::vector<size_t> resources = scopes_[static_cast<size_t>(scope)];
  // An anchor is looked up from the outermost resource on, so only one that adds a name matters.
  const auto is_new = [&](const auto& anchor) {
    return std::none_of(resources.begin(), resources.end(), [&](size_t outer) {
      return resources_[outer].dynamic_anchors.contains(anchor.first);
    });
  };
  const auto& anchors = resources_[entered].dynamic_anchors;
  if (std::none_of(anchors.begin(), anchors.end(), is_new)) return scope;
  resources.push_back(entered);
  const auto [place, inserted] = scope_ids_.emplace(resources, static_cast<Scope>(scopes_.size()));
  if (inserted) scopes_.push_back(resources);
  return place->second;
}

JsonId SchemaResources::resolve_dynamic(JsonId from, std::string_view keyword,
                                        const std::string& reference, Scope scope) const {
  const JsonId initial = resolve(from, keyword, reference);
  std::string anchor;
  if (keyword == "$dynamicRef") {
    anchor = reference.substr(std::min(reference.find('#'), reference.size()));
    if (anchor.size() < 2 || anchor[1] == '/') return initial;
    anchor = decode_percent(anchor.substr(1));
  }
  const auto& initial_anchors = resource(initial).dynamic_anchors;
  const auto own = initial_anchors.find(anchor);
  if (own == initial_anchors.end() || own->second != initial) return initial;
  for (const size_t outer : scopes_[static_cast<size_t>(scope)]) {
    const auto found = resources_[outer].dynamic_anchors.find(anchor);
    if (found != resources_[outer].dynamic_anchors.end()) return found->second;
  }
  return initial;
}

}  // namespace heed::constrain

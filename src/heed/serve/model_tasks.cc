#include "heed/serve/model_tasks.h"

#include <utility>

namespace heed::serve {

std::vector<std::string> names_of(const ModelTasks& tasks) {
  std::vector<std::string> names;
  for (const auto& [can, name] :
       {std::pair{tasks.generate, "generate"}, std::pair{tasks.chat, "chat"},
        std::pair{tasks.translate, "translate"}, std::pair{tasks.embed, "embed"},
        std::pair{tasks.rerank, "rerank"}, std::pair{tasks.score, "score"},
        std::pair{tasks.fill, "fill"}, std::pair{tasks.attention, "attention"}})
    if (can) names.emplace_back(name);
  return names;
}

}  // namespace heed::serve

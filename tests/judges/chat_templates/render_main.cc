// Renders chat templates for the judges: reads lines {"template": TEXT, "context": OBJECT} from
// standard input and answers each with {"output": TEXT} or {"error": TEXT}.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "heed/base/error.h"
#include "heed/jinja/template.h"

int main() {
  using Json = nlohmann::ordered_json;
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      const Json task = Json::parse(line);
      const auto chat =
          heed::jinja::Template::parse(task.at("template").get<std::string>(), "chat");
      answer["output"] = chat.render(task.at("context")).text;
    } catch (const heed::Error& error) {
      answer["error"] = error.what();
    }
    std::cout << answer.dump() << '\n' << std::flush;
  }
}

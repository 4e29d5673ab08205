// Three outputs at a time. The first ends after its limit of tokens, the second at a stop string,
// the third when this program has seen enough.
#include <heed/heed.h>

#include <iostream>
#include <map>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto model = heed::Model::load(argv[1]);
    heed::Session session(model, {.max_active_requests = 8});
    std::map<heed::RequestId, std::string> texts;
    const auto keep = [&](const heed::Delta& delta) {
      texts[delta.request] += delta.text;
      if (delta.error != nullptr) texts[delta.request] = delta.error->what();
      return true;
    };
    session.add({.prompt = "Once upon a time", .options = {.max_new_tokens = 20}}, keep);
    session.add({.prompt = "The sea", .options = {.max_new_tokens = 20, .stop = {"."}}}, keep);
    session.add({.prompt = "A ship"}, [&](const heed::Delta& delta) {
      return keep(delta) && texts[delta.request].size() < 30;  // false ends the request
    });
    while (session.step()) {
    }
    for (const auto& [request, text] : texts) std::cout << request << ": " << text << '\n';
    return 0;
  } catch (const heed::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

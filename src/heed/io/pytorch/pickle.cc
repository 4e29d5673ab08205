#include "heed/io/pytorch/pickle.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/io/pytorch/pickle_calls.h"
#include "heed/io/pytorch/pickle_instructions.h"

namespace heed::io {
namespace {

using namespace pickle_instructions;

constexpr uint8_t kNewestProtocol = 5;
/// Memory of an entry of the memo.
constexpr size_t kMemoEntryBytes = 64;

}  // namespace

PickleValue Pickle::read() {
  for (;;) {
    const auto instruction = bytes_.number<uint8_t>();
    if (instruction == kStop) break;
    if (!read_scalar(instruction) && !read_text(instruction) && !read_memo(instruction) &&
        !read_container(instruction) && !read_call(instruction))
      refuse(instruction);
  }
  require(marks_.empty() && stack_.size() == 1,
          "{}: the pickle is damaged: it ends with {} values instead of one", objects_.file(),
          stack_.size());
  return stack_.back();
}

bool Pickle::read_scalar(uint8_t instruction) {
  const auto integer = [&](int64_t value) { push({PickleKind::integer, value}); };
  // In a line, of protocol 1; its end may be an "L". Or in bytes.
  const auto long_integer = [&](std::string_view digits) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    require(error == std::errc() && end != digits.data(), "{}: the pickle has {} for an integer",
            objects_.file(), quoted(digits));
    integer(value);
  };
  const auto binary_integer = [&](std::string_view bytes) {
    if (bytes.size() > sizeof(int64_t))
      return push(objects_.add_text(PickleKind::big_integer, bytes));
    int64_t value = bytes.empty() || static_cast<int8_t>(bytes.back()) >= 0 ? 0 : -1;
    std::memcpy(&value, bytes.data(), bytes.size());
    integer(value);
  };
  switch (instruction) {
    case kNone:
      return push({}), true;
    case kTrue:
    case kFalse:
      return push({PickleKind::boolean, instruction == kTrue}), true;
    case kInt1:
      return integer(bytes_.number<uint8_t>()), true;
    case kInt2:
      return integer(bytes_.number<uint16_t>()), true;
    case kInt4:
      return integer(bytes_.number<int32_t>()), true;
    case kLong1:
      return binary_integer(bytes_.text(bytes_.number<uint8_t>())), true;
    case kLong4:
      return binary_integer(bytes_.text(bytes_.number<uint32_t>())), true;
    case kIntLine: {
      const std::string_view digits = bytes_.line();
      if (digits == "00" || digits == "01")
        return push({PickleKind::boolean, digits == "01"}), true;
      return long_integer(digits), true;
    }
    case kLongLine:
      return long_integer(bytes_.line()), true;
    case kFloat:
      bytes_.number<double>();
      return push({PickleKind::real}), true;
    default:
      return false;
  }
}

bool Pickle::read_text(uint8_t instruction) {
  const auto text = [&](uint64_t length) {
    const std::string_view found = bytes_.text(length);
    require(is_valid_utf8(found), "{}: the pickle has the string {}, which is not UTF-8",
            objects_.file(), quoted(found));
    push(objects_.add_text(PickleKind::text, found));
  };
  const auto bytes = [&](uint64_t length) {
    push(objects_.add_text(PickleKind::bytes, bytes_.text(length)));
  };
  switch (instruction) {
    case kText1:
    case kString1:
      return text(bytes_.number<uint8_t>()), true;
    case kText4:
    case kString4:
      return text(bytes_.number<uint32_t>()), true;
    case kText8:
      return text(bytes_.number<uint64_t>()), true;
    case kBytes1:
      return bytes(bytes_.number<uint8_t>()), true;
    case kBytes4:
      return bytes(bytes_.number<uint32_t>()), true;
    case kBytes8:
      return bytes(bytes_.number<uint64_t>()), true;
    default:
      return false;
  }
}

bool Pickle::read_container(uint8_t instruction) {
  switch (instruction) {
    case kMark:
      if (marks_.size() == highest_marks_) {
        objects_.charge(2 * sizeof(size_t));
        ++highest_marks_;
      }
      return marks_.push_back(stack_.size()), true;
    case kEmptyTuple:
      return push_tuple(0), true;
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return push_tuple(static_cast<size_t>(instruction - kTuple1) + 1), true;
    case kTuple:
      return push(objects_.add_items(PickleKind::tuple, pop_to_mark())), true;
    case kEmptyList:
      return push(objects_.add_items(PickleKind::list, {})), true;
    case kAppend:
      return append_all({pop()}), true;
    case kAppends:
      return append_all(pop_to_mark()), true;
    case kEmptyDict:
      return push(objects_.add_dict()), true;
    case kSetItem: {
      const PickleValue value = pop(), key = pop();
      return insert_all({key, value}), true;
    }
    case kSetItems:
      return insert_all(pop_to_mark()), true;
    case kPop:
      return discard(), true;
    case kPopMark:
      return static_cast<void>(pop_to_mark()), true;
    default:
      return false;
  }
}

bool Pickle::read_memo(uint8_t instruction) {
  switch (instruction) {
    case kPut1:
      return remember(bytes_.number<uint8_t>()), true;
    case kPut4:
      return remember(bytes_.number<uint32_t>()), true;
    case kMemoize:
      return remember(memo_.size()), true;
    case kGet1:
      return recall(bytes_.number<uint8_t>()), true;
    case kGet4:
      return recall(bytes_.number<uint32_t>()), true;
    case kProtocol: {
      const auto protocol = bytes_.number<uint8_t>();
      require(protocol <= kNewestProtocol, "{}: the pickle has protocol {}, expected up to {}",
              objects_.file(), protocol, kNewestProtocol);
      return true;
    }
    case kFrame:
      bytes_.number<uint64_t>();
      return true;
    default:
      return false;
  }
}

bool Pickle::read_call(uint8_t instruction) {
  switch (instruction) {
    case kGlobal:
    case kInstance: {
      const std::string_view module = bytes_.line(), name = bytes_.line();
      push_global(module, name);
      if (instruction == kInstance) refuse(instruction);
      return true;
    }
    case kStackGlobal: {
      const PickleValue name = pop(), module = pop();
      require(name.is(PickleKind::text) && module.is(PickleKind::text),
              "{}: the pickle names a global by {} and {}, expected strings", objects_.file(),
              name_of(module.kind), name_of(name.kind));
      return push_global(objects_.text(module), objects_.text(name)), true;
    }
    case kReduce:
      return call(), true;
    case kBuild:
      return set_state(), true;
    case kPersistentId:
      return push(storage_of_id(objects_, pop())), true;
    default:
      return false;
  }
}

void Pickle::refuse(uint8_t instruction) {
  const auto read_extension = [&]() -> int64_t {
    if (instruction == kExtension1) return bytes_.number<uint8_t>();
    if (instruction == kExtension2) return bytes_.number<uint16_t>();
    return bytes_.number<int32_t>();
  };
  if (instruction == kExtension1 || instruction == kExtension2 || instruction == kExtension4)
    fail("{}: the pickle asks for the extension {} of copyreg, which heed does not have",
         objects_.file(), read_extension());
  // The class of a new object is under its arguments.
  for (auto value = stack_.rbegin(); value != stack_.rend(); ++value)
    if (value->is(PickleKind::global))
      fail("{}: the pickle has the instruction {} after naming {}, which heed does not read",
           objects_.file(), name_of_instruction(instruction), global_of(*value).name);
  fail("{}: the pickle has the instruction {}, which heed does not read", objects_.file(),
       name_of_instruction(instruction));
}

void Pickle::push(PickleValue value) {
  if (stack_.size() == highest_stack_) {
    objects_.charge(2 * sizeof value);
    ++highest_stack_;
  }
  stack_.push_back(value);
}

PickleValue Pickle::pop() {
  const PickleValue value = top();
  stack_.pop_back();
  return value;
}

PickleValue Pickle::top() {
  require(stack_.size() > (marks_.empty() ? 0 : marks_.back()),
          "{}: the pickle is damaged: a value is missing before byte {}", objects_.file(), end());
  return stack_.back();
}

std::vector<PickleValue> Pickle::pop_to_mark() {
  require(!marks_.empty(), "{}: the pickle is damaged: a mark is missing before byte {}",
          objects_.file(), end());
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleValue> values(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return values;
}

void Pickle::push_tuple(size_t size) {
  std::vector<PickleValue> values(size);
  for (size_t i = size; i-- > 0;) values[i] = pop();
  push(objects_.add_items(PickleKind::tuple, std::move(values)));
}

void Pickle::append_all(const std::vector<PickleValue>& items) {
  const PickleValue list = top();
  require(list.is(PickleKind::list), "{}: the pickle appends to {}, expected a list",
          objects_.file(), name_of(list.kind));
  for (const PickleValue item : items) objects_.append(list, item);
}

void Pickle::insert_all(const std::vector<PickleValue>& items) {
  const PickleValue dict = top();
  require(dict.is(PickleKind::dict), "{}: the pickle sets items of {}, expected a dict",
          objects_.file(), name_of(dict.kind));
  require(items.size() % 2 == 0, "{}: the pickle is damaged: a key of a dict has no value",
          objects_.file());
  for (size_t i = 0; i < items.size(); i += 2) objects_.insert(dict, items[i], items[i + 1]);
}

void Pickle::discard() {
  if (!marks_.empty() && marks_.back() == stack_.size())
    marks_.pop_back();
  else
    pop();
}

void Pickle::remember(uint64_t index) {
  const PickleValue value = top();
  const auto [entry, added] = memo_.insert_or_assign(index, value);
  if (added) objects_.charge(kMemoEntryBytes);
}

void Pickle::recall(uint64_t index) {
  const auto found = memo_.find(index);
  require(found != memo_.end(), "{}: the pickle is damaged: nothing has the number {} of its memo",
          objects_.file(), index);
  push(found->second);
}

void Pickle::push_global(std::string_view module, std::string_view name) {
  const KnownGlobal* const global = find_known_global(module, name);
  require(global,
          "{}: the pickle names {}.{}, which is not among the few names that heed reads; nothing "
          "in it was run",
          objects_.file(), one_line(module), one_line(name));
  push(value_of(*global));
}

void Pickle::call() {
  const PickleValue arguments = pop(), function = pop();
  require(function.is(PickleKind::global) && arguments.is(PickleKind::tuple),
          "{}: the pickle calls {} with {}, expected a function with a tuple", objects_.file(),
          name_of(function.kind), name_of(arguments.kind));
  push(call_known_global(objects_, global_of(function), objects_.items(arguments)));
}

/// What an OrderedDict has beside its items: the versions of modules in "_metadata" of a state
/// dict, which are not needed.
void Pickle::set_state() {
  const PickleValue state = pop(), object = top();
  require(object.is(PickleKind::dict) && state.is(PickleKind::dict),
          "{}: the pickle sets attributes of {} from {}, expected those of an OrderedDict",
          objects_.file(), name_of(object.kind), name_of(state.kind));
}

}  // namespace heed::io

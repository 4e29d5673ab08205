#include "heed/io/pytorch/pickle_instructions.h"

#include <fmt/format.h>

#include <array>

namespace heed::io {

std::string name_of_instruction(uint8_t instruction) {
  struct Named {
    uint8_t instruction;
    const char* name;
  };
  constexpr std::array<Named, 19> kNames{{{'2', "DUP"},
                                          {'F', "FLOAT"},
                                          {'P', "PERSID"},
                                          {'S', "STRING"},
                                          {'V', "UNICODE"},
                                          {'d', "DICT"},
                                          {'g', "GET"},
                                          {'i', "INST"},
                                          {'l', "LIST"},
                                          {'o', "OBJ"},
                                          {'p', "PUT"},
                                          {0x81, "NEWOBJ"},
                                          {0x8f, "EMPTY_SET"},
                                          {0x90, "ADDITEMS"},
                                          {0x91, "FROZENSET"},
                                          {0x92, "NEWOBJ_EX"},
                                          {0x96, "BYTEARRAY8"},
                                          {0x97, "NEXT_BUFFER"},
                                          {0x98, "READONLY_BUFFER"}}};
  for (const Named& one : kNames)
    if (one.instruction == instruction) return one.name;
  return fmt::format("{}", instruction);
}

}  // namespace heed::io

#include "gpu/elf.h"

#include <elf.h>

#include <cstring>

namespace tilewise::gpu {
namespace {

// Reads a structure at an offset that may lie anywhere, also outside.
template <class T>
bool read_at(std::string_view image, std::uint64_t offset, T& value) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, image.data() + offset, sizeof(T));
  return true;
}

std::optional<Elf64_Shdr> section(std::string_view image, const Elf64_Ehdr& header,
                                  std::uint64_t index) {
  Elf64_Shdr found;
  if (index >= header.e_shnum || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  if (!read_at(image, header.e_shoff + index * sizeof(Elf64_Shdr), found)) return {};
  return found;
}

std::optional<std::string_view> content(std::string_view image, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > image.size() ||
      image.size() - section.sh_offset < section.sh_size) {
    return {};
  }
  return image.substr(section.sh_offset, section.sh_size);
}

std::optional<Elf64_Sym> find_symbol(std::string_view symbols, std::string_view names,
                                     std::string_view name) {
  Elf64_Sym symbol;
  for (std::uint64_t at = 0; read_at(symbols, at, symbol); at += sizeof(symbol)) {
    if (symbol.st_name >= names.size()) continue;
    std::string_view found = names.substr(symbol.st_name);
    found = found.substr(0, found.find('\0'));
    if (found == name) return symbol;
  }
  return {};
}

}  // namespace

std::optional<std::string_view> elf_variable(std::string_view image, std::string_view name) {
  Elf64_Ehdr header;
  if (!read_at(image, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto table = section(image, header, i);
    if (!table || table->sh_type != SHT_SYMTAB) continue;
    const auto strings = section(image, header, table->sh_link);
    if (!strings) return {};
    const auto symbols = content(image, *table);
    const auto names = content(image, *strings);
    if (!symbols || !names) return {};
    const auto symbol = find_symbol(*symbols, *names, name);
    if (!symbol) continue;
    const auto home = section(image, header, symbol->st_shndx);
    if (!home) return {};
    const auto bytes = content(image, *home);
    if (!bytes || symbol->st_value > bytes->size() ||
        bytes->size() - symbol->st_value < symbol->st_size) {
      return {};
    }
    return bytes->substr(symbol->st_value, symbol->st_size);
  }
  return {};
}

}  // namespace tilewise::gpu

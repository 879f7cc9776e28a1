// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace kvexact {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

ProgramResult Spawn(std::vector<std::string> words, const std::vector<std::string>& added) {
  static int count = 0;
  const std::string stem =
      testing::TempDir() + "/kvexact_cli_" + std::to_string(getpid()) + "_" + std::to_string(count++);
  std::vector<std::string> environment = added;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, (stem + ".out").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  posix_spawn_file_actions_addopen(&files, 2, (stem + ".err").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  pid_t child = 0;
  const int spawned =
      posix_spawn(&child, words.front().c_str(), &files, nullptr, Pointers(words).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  ProgramResult result;
  if (spawned != 0) {
    ADD_FAILURE() << words.front() << " cannot be run";
    return result;
  }
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = TextOf(stem + ".out");
  result.err = TextOf(stem + ".err");
  fs::remove(stem + ".out");
  fs::remove(stem + ".err");
  return result;
}

}  // namespace

std::vector<std::string> ProgramResult::out_lines() const { return LinesOf(out); }
std::vector<std::string> ProgramResult::err_lines() const { return LinesOf(err); }
std::string ProgramResult::last_line() const {
  const std::vector<std::string> lines = out_lines();
  return lines.empty() ? "" : lines.back();
}

ProgramResult RunProgram(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  std::vector<std::string> words = {KVEXACT_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Spawn(std::move(words), environment);
}

ProgramResult RunShell(const std::string& command) {
  const std::string name = "kvexact";
  if (!command.starts_with(name + " ")) {
    ADD_FAILURE() << "no command of the program: " << command;
    return {};
  }
  return Spawn({"/bin/sh", "-c", KVEXACT_PROGRAM + command.substr(name.size())}, {});
}

std::string ValueOf(const std::string& line, const std::string& key) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  }
  return "";
}

}  // namespace kvexact

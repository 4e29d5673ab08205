#pragma once

#include <string>

namespace heed::tasks {

/// A function of one number.
using ModuleActivation = double (*)(double);

/// The function that a Dense module's activation_function names
/// ("torch.nn.modules.activation.Tanh") with torch's defaults. Throws Error, naming the file, for
/// others.
ModuleActivation module_activation(const std::string& name, const std::string& file);

}  // namespace heed::tasks

#include "heed/engine/device_choice.h"

#include <gtest/gtest.h>

#include "heed/devices.h"
#include "heed/engine/load.h"
#include "heed/model_facts.h"
#include "tests/base/forked.h"
#include "tests/base/testing.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr LoadedBytes kSmall{.weights = 20 * kMiB, .cache = kMiB, .weights_as_q8_0 = 10 * kMiB};
constexpr LoadedBytes kLarge{.weights = 300 * kMiB, .cache = kMiB, .weights_as_q8_0 = 80 * kMiB};

/// Returns work() where there are GPUs as HEED_SIMULATED_GPU says (gpu_simulator/). In a child,
/// since a process opens one driver, and each GPU once.
std::string with_gpus(const std::string& settings, const std::function<std::string()>& work) {
  return in_forked_child([&] {
    ::setenv("HEED_CUDA_DRIVER", HEED_SIMULATED_KERNELS, 1);
    ::setenv("HEED_SIMULATED_GPU", settings.c_str(), 1);
    return work();
  });
}

/// The name of the device that is chosen, or the error.
std::string chosen(const std::string& settings, const std::string& device,
                   const LoadedBytes& needs = kSmall) {
  return with_gpus(settings, [&]() -> std::string {
    const Device* const found = device_for(device, [&] { return needs; });
    return found ? found->name() : "the CPU";
  });
}

TEST(DeviceChoice, IsReadFromItsName) {
  EXPECT_TRUE(parse_device("cpu").cpu);
  EXPECT_TRUE(parse_device("auto").automatic);
  EXPECT_EQ(parse_device("gpu").ordinal, std::nullopt);
  EXPECT_EQ(parse_device("gpu:12").ordinal, 12);
  for (const char* wrong :
       {"", "CPU", "gpu:", "gpu:-1", "gpu:1x", "gpu:99999999999", "cuda", "gpu 1"})
    EXPECT_EQ(error_of([&] { parse_device(wrong); }),
              fmt::format("device is \"{}\", expected cpu, gpu, gpu:N or auto", wrong));
}

TEST(DeviceChoice, IsTheGpuThatIsAskedFor) {
  EXPECT_EQ(chosen("devices=2", "gpu"), "GPU 0 (simulated GPU)");
  EXPECT_EQ(chosen("devices=2", "gpu:1"), "GPU 1 (simulated GPU)");
  EXPECT_EQ(chosen("devices=2", "auto"), "GPU 0 (simulated GPU)");
  EXPECT_EQ(chosen("devices=2", "cpu"), "the CPU");
}

TEST(DeviceChoice, PassesOverAGpuThatIsTooOld) {
  EXPECT_EQ(chosen("devices=2,capability=75+90", "gpu"), "GPU 1 (simulated GPU)");
  EXPECT_EQ(chosen("devices=2,capability=75+90", "auto"), "GPU 1 (simulated GPU)");
  EXPECT_EQ(chosen("capability=75", "auto"), "the CPU");
  EXPECT_EQ(chosen("capability=75", "gpu"),
            "GPU 0 (simulated GPU) has compute capability 7.5, heed needs 8.0 (Ampere) or later");
}

TEST(DeviceChoice, NamesAGpuThatIsMissing) {
  EXPECT_EQ(chosen("devices=2", "gpu:7"),
            "device is \"gpu:7\", and this machine has 2 GPUs, numbered from 0");
  EXPECT_EQ(chosen("devices=0", "gpu"), "device is \"gpu\", and the driver finds no GPU");
  EXPECT_EQ(chosen("devices=0", "auto"), "the CPU");
}

TEST(DeviceChoice, IsTheCpuWhereAModelDoesNotFit) {
  EXPECT_EQ(chosen("memory=256", "auto", kLarge), "the CPU");
  EXPECT_EQ(chosen("memory=256", "gpu", kLarge),
            "the model's weights take 314,572,800 bytes, and 268,435,456 are free on GPU 0 "
            "(simulated GPU): load it with weights q8_0, 83,886,080 bytes, or on the CPU");
  EXPECT_EQ(chosen("memory=64", "gpu:0", kLarge),
            "the model's weights take 314,572,800 bytes, and 67,108,864 are free on GPU 0 "
            "(simulated GPU): load it on the CPU");
  // The weights fit, but not with all that may be needed.
  EXPECT_EQ(chosen("memory=64", "auto"), "the CPU");
  EXPECT_EQ(chosen("memory=64", "gpu"), "GPU 0 (simulated GPU)");
}

TEST(DeviceChoice, IsTheCpuWhereADriverFails) {
  for (const char* fault :
       {"fail=cuInit:803", "fail=cuModuleLoadData:209:0", "fail=cuMemGetInfo:700"})
    EXPECT_EQ(chosen(fault, "auto"), "the CPU") << fault;
  EXPECT_NE(chosen("fail=cuInit:803", "gpu").find("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
            std::string::npos);
}

TEST(DeviceChoice, AsksWhatAModelNeedsOnlyWhereThereIsAGpu) {
  const auto asked = [](const std::string& device) {
    return with_gpus("devices=0", [&]() -> std::string {
      bool called = false;
      device_for(device, [&] {
        called = true;
        return kSmall;
      });
      return called ? "asked" : "not asked";
    });
  };
  EXPECT_EQ(asked("auto"), "not asked");
  EXPECT_EQ(asked("cpu"), "not asked");
}

TEST(Devices, AreListedWithWhatIsWrongWithThem) {
  EXPECT_EQ(with_gpus("devices=2,memory=64,capability=75+80",
                      [] {
                        std::string text;
                        for (const DeviceInfo& gpu : devices().gpus)
                          text += fmt::format("{} {} {}.{} {} {} [{}]\n", gpu.ordinal, gpu.name,
                                              gpu.major, gpu.minor, gpu.memory_bytes,
                                              gpu.free_bytes, gpu.problem);
                        return text + devices().missing;
                      }),
            "0 simulated GPU 7.5 67108864 0 [GPU 0 (simulated GPU) has compute capability 7.5, "
            "heed needs 8.0 (Ampere) or later]\n"
            "1 simulated GPU 8.0 67108864 67108864 []\n");
  const auto missing = [](const std::string& settings) {
    return with_gpus(settings, [] { return devices().missing; });
  };
  if (devices().missing.find("nvcc") != std::string::npos) GTEST_SKIP();
  EXPECT_EQ(missing("devices=0"), "the driver finds no GPU");
  EXPECT_EQ(missing("fail=cuInit:100"),
            "starting the driver of the GPU: no CUDA-capable device is detected "
            "(CUDA_ERROR_NO_DEVICE)");
}

TEST(Load, KnowsWhatItWillPutIntoMemory) {
  const TemporaryDirectory folder;
  write_decoder(folder.path() / "model");
  const std::filesystem::path path = folder / "model";
  const ModelFacts facts = describe_model(path);
  const io::ModelFiles files(path);
  const auto opened = open_model(files, {});
  const LoadedBytes stored = memory_to_load(opened, {});
  EXPECT_EQ(stored.weights, facts.weight_bytes.at(WeightType::f32));
  EXPECT_EQ(stored.cache, facts.memory.cache_bytes);
  EXPECT_EQ(stored.weights_as_q8_0, facts.weight_bytes.at(WeightType::q8_0));
  EXPECT_EQ(memory_to_load(opened, {.weights = WeightType::q8_0}).weights, stored.weights_as_q8_0);
  const LoadedBytes bf16 = memory_to_load(opened, {.cache = CacheType::bf16});
  EXPECT_EQ(2 * bf16.cache, stored.cache);
}

}  // namespace
}  // namespace heed::engine

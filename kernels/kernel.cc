#include "kernels/kernel.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "kernels/internal/register.h"

namespace retuple {
namespace {

class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(KernelRegistry::Function f) : function_(f) {}
  absl::Status Run(KernelContext& ctx) const override { return function_(ctx); }

 private:
  KernelRegistry::Function function_;
};

}  // namespace

Value Value::Sequence(std::vector<Value> items) {
  Value v;
  v.kind = Kind::kSequence;
  v.sequence = std::make_shared<const std::vector<Value>>(std::move(items));
  return v;
}

const KernelRegistry& KernelRegistry::Get() {
  static const KernelRegistry* const registry = [] {
    auto* r = new KernelRegistry;
    internal::RegisterCoreKernels(*r);
    internal::RegisterDenseKernels(*r);
    return r;
  }();
  return *registry;
}

void KernelRegistry::Add(std::string_view form, Function f, KernelFlags flags) {
  AddFactory(
      form,
      [f](const KernelInit&) -> absl::StatusOr<std::unique_ptr<Kernel>> {
        return std::make_unique<FunctionKernel>(f);
      },
      flags);
}

void KernelRegistry::AddFactory(std::string_view form, Factory f, KernelFlags flags) {
  entries_[std::string(form)] = Entry{std::move(f), flags};
}

absl::StatusOr<std::unique_ptr<Kernel>> KernelRegistry::Make(const KernelInit& init) const {
  const std::string form = init.op.form();
  auto it = entries_.find(form);
  if (it == entries_.end()) {
    return absl::UnimplementedError(absl::StrFormat("no kernel for operator %s", form));
  }
  return it->second.factory(init);
}

bool KernelRegistry::Has(std::string_view form) const {
  return entries_.find(form) != entries_.end();
}

KernelFlags KernelRegistry::Flags(std::string_view form) const {
  auto it = entries_.find(form);
  return it == entries_.end() ? KernelFlags{} : it->second.flags;
}

std::vector<std::string> KernelRegistry::Forms() const {
  std::vector<std::string> forms;
  forms.reserve(entries_.size());
  for (const auto& [form, entry] : entries_) forms.push_back(form);
  return forms;
}

}  // namespace retuple

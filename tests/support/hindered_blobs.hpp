#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <holdfast/blobs.hpp>

namespace holdfast::test {

/// Blobs that are as slow, or as far away, as a test wants them: what it gives is called, with the
/// key, before any of them is read, written or removed.
class HinderedBlobs : public BlobStore {
 public:
  HinderedBlobs(std::shared_ptr<BlobStore> blobs, std::function<void(std::string_view)> hinder)
      : blobs_{std::move(blobs)}, hinder_{std::move(hinder)} {}

  bool put(std::string_view key, std::string_view content) override {
    hinder_(key);
    return blobs_->put(key, content);
  }
  bool put(std::string_view key, BlobSource& content) override {
    hinder_(key);
    return blobs_->put(key, content);
  }
  std::optional<std::string> get(std::string_view key) override {
    hinder_(key);
    return blobs_->get(key);
  }
  bool read(std::string_view key, const std::function<void(std::string_view)>& piece) override {
    hinder_(key);
    return blobs_->read(key, piece);
  }
  bool remove(std::string_view key) override {
    hinder_(key);
    return blobs_->remove(key);
  }
  std::vector<BlobInfo> list(std::string_view prefix) override { return blobs_->list(prefix); }
  int remove_unfinished(std::chrono::seconds least_age) override {
    return blobs_->remove_unfinished(least_age);
  }
  std::string address_of(std::string_view key) const override { return blobs_->address_of(key); }
  std::string name() const override { return blobs_->name(); }

 private:
  std::shared_ptr<BlobStore> blobs_;
  std::function<void(std::string_view)> hinder_;
};

}  // namespace holdfast::test

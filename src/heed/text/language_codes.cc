#include "heed/text/language_codes.h"

namespace heed::text {
namespace {

/// ISO 639-3 and 639-1 of languages with many translators, in pairs. For macrolanguages, the codes
/// of what NLLB has are there too ("arb", "npi", "swh").
constexpr std::string_view kTwoLetters =
    "afr af amh am ara ar arb ar asm as azj az aze az bel be ben bn bos bs bul bg cat ca ces cs "
    "cym cy dan da deu de ell el eng en epo eo est et eus eu fas fa pes fa fin fi fra fr gla gd "
    "gle ga glg gl guj gu hau ha heb he hin hi hrv hr hun hu hye hy ibo ig ind id isl is ita it "
    "jav jv jpn ja kan kn kat ka kaz kk khk mn kir ky khm km kor ko lao lo lav lv lvs lv lit lt "
    "ltz lb mal ml mar mr mkd mk mlg mg plt mg mlt mt mon mn mri mi msa ms zsm ms mya my nep ne "
    "npi ne nld nl nno nn nob nb nor no oci oc ori or ory or pan pa pol pl por pt pus ps pbt ps "
    "ron ro rus ru sin si slk sk slv sl sna sn snd sd som so sot st spa es sqi sq als sq srp sr "
    "sun su swa sw swh sw swe sv tam ta tat tt tel te tgk tg tgl tl tha th tur tr uig ug ukr uk "
    "urd ur uzb uz uzn uz vie vi wol wo xho xh ydd yi yid yi yor yo zho zh zul zu";

std::string_view two_letters(std::string_view three) {
  for (size_t at = 0; at < kTwoLetters.size(); at += 7)
    if (kTwoLetters.substr(at, 3) == three) return kTwoLetters.substr(at + 4, 2);
  return three;
}

}  // namespace

std::string short_language(std::string_view code) {
  const size_t bar = code.find('_');
  const std::string_view language = code.substr(0, bar);
  const std::string_view script = bar == code.npos ? std::string_view() : code.substr(bar + 1);
  std::string name(language.size() == 3 ? two_letters(language) : language);
  if (name == "zh" && (script == "Hant" || script == "TW")) name += "-Hant";
  return name;
}

std::string code_of_language(const std::vector<std::string>& codes, std::string_view language) {
  for (const std::string& code : codes)
    if (code == language) return code;
  for (const std::string& code : codes)
    if (short_language(code) == language) return code;
  return {};
}

}  // namespace heed::text

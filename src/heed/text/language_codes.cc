#include "heed/text/language_codes.h"

namespace heed::text {
namespace {

/// All of ISO 639-1 with their codes of ISO 639-3, in pairs. For macrolanguages, the codes of what
/// NLLB has are there too ("arb", "npi", "swh"); of Kurdish, only the northern one is "ku".
constexpr std::string_view kTwoLetters =
    "aar aa abk ab afr af aka ak als sq amh am ara ar arb ar arg an asm as ava av ave ae aym ay "
    "ayr ay aze az azj az bak ba bam bm bel be ben bn bis bi bod bo bos bs bre br bul bg cat ca "
    "ces cs cha ch che ce chu cu chv cv cor kw cos co cre cr cym cy dan da deu de div dv dzo dz "
    "ell el eng en epo eo est et eus eu ewe ee fao fo fas fa fij fj fin fi fra fr fry fy ful ff "
    "fuv ff gaz om gla gd gle ga glg gl glv gv grn gn guj gu hat ht hau ha heb he her hz hin hi "
    "hmo ho hrv hr hun hu hye hy ibo ig ido io iii ii iku iu ile ie ina ia ind id ipk ik isl is "
    "ita it jav jv jpn ja kal kl kan kn kas ks kat ka kau kr kaz kk khk mn khm km kik ki kin rw "
    "kir ky kmr ku knc kr kom kv kon kg kor ko kua kj kur ku lao lo lat la lav lv lim li lin ln "
    "lit lt ltz lb lub lu lug lg lvs lv mah mh mal ml mar mr mkd mk mlg mg mlt mt mon mn mri mi "
    "msa ms mya my nau na nav nv nbl nr nde nd ndo ng nep ne nld nl nno nn nob nb nor no npi ne "
    "nya ny oci oc oji oj ori or orm om ory or oss os pan pa pbt ps pes fa pli pi plt mg pol pl "
    "por pt pus ps que qu quy qu roh rm ron ro run rn rus ru sag sg san sa sin si slk sk slv sl "
    "sme se smo sm sna sn snd sd som so sot st spa es sqi sq srd sc srp sr ssw ss sun su swa sw "
    "swe sv swh sw tah ty tam ta tat tt tel te tgk tg tgl tl tha th tir ti ton to tsn tn tso ts "
    "tuk tk tur tr twi tw uig ug ukr uk urd ur uzb uz uzn uz ven ve vie vi vol vo wln wa wol wo "
    "xho xh ydd yi yid yi yor yo zha za zho zh zsm ms zul zu";

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
  const std::string_view wanted = two_letters(language);
  for (const std::string& code : codes)
    if (short_language(code) == wanted) return code;
  return {};
}

}  // namespace heed::text

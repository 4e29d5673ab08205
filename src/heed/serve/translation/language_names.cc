#include "heed/serve/translation/language_names.h"

namespace heed::serve {
namespace {

/// ISO 639-1, and the codes of scripts that short_language() makes.
constexpr std::string_view kLanguageNames =
    "af=Afrikaans;am=Amharic;ar=Arabic;as=Assamese;az=Azerbaijani;be=Belarusian;bg=Bulgarian;"
    "bn=Bengali;bs=Bosnian;ca=Catalan;cs=Czech;cy=Welsh;da=Danish;de=German;el=Greek;en=English;"
    "eo=Esperanto;es=Spanish;et=Estonian;eu=Basque;fa=Persian;fi=Finnish;fr=French;"
    "fy=Western Frisian;ga=Irish;gd=Scottish Gaelic;gl=Galician;gu=Gujarati;ha=Hausa;he=Hebrew;"
    "hi=Hindi;hr=Croatian;ht=Haitian Creole;hu=Hungarian;hy=Armenian;id=Indonesian;ig=Igbo;"
    "is=Icelandic;it=Italian;ja=Japanese;jv=Javanese;ka=Georgian;kk=Kazakh;km=Khmer;kn=Kannada;"
    "ko=Korean;ky=Kyrgyz;la=Latin;lb=Luxembourgish;lo=Lao;lt=Lithuanian;lv=Latvian;mg=Malagasy;"
    "mi=Maori;mk=Macedonian;ml=Malayalam;mn=Mongolian;mr=Marathi;ms=Malay;mt=Maltese;my=Burmese;"
    "nb=Norwegian Bokmål;ne=Nepali;nl=Dutch;nn=Norwegian Nynorsk;no=Norwegian;oc=Occitan;or=Odia;"
    "pa=Punjabi;pl=Polish;ps=Pashto;pt=Portuguese;ro=Romanian;ru=Russian;sd=Sindhi;si=Sinhala;"
    "sk=Slovak;sl=Slovenian;sn=Shona;so=Somali;sq=Albanian;sr=Serbian;st=Southern Sotho;"
    "su=Sundanese;sv=Swedish;sw=Swahili;ta=Tamil;te=Telugu;tg=Tajik;th=Thai;tl=Tagalog;tr=Turkish;"
    "tt=Tatar;ug=Uyghur;uk=Ukrainian;ur=Urdu;uz=Uzbek;vi=Vietnamese;wo=Wolof;xh=Xhosa;yi=Yiddish;"
    "yo=Yoruba;zh=Chinese;zh-Hant=Chinese (traditional);zu=Zulu;";

}  // namespace

std::string_view name_of_language(std::string_view code) {
  for (std::string_view rest = kLanguageNames; !rest.empty();) {
    const size_t equals = rest.find('='), end = rest.find(';');
    if (rest.substr(0, equals) == code) return rest.substr(equals + 1, end - equals - 1);
    rest.remove_prefix(end + 1);
  }
  return code;
}

}  // namespace heed::serve

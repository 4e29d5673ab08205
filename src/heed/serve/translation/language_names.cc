#include "heed/serve/translation/language_names.h"

namespace heed::serve {
namespace {

/// What short_language() makes: all of ISO 639-1, the codes of ISO 639-3 of NLLB's languages that
/// have no two letters, those of scripts, and M2M-100's own "ns".
constexpr std::string_view kLanguageNames =
    "aa=Afar;ab=Abkhazian;ace=Acehnese;acm=Mesopotamian Arabic;acq=Ta'izzi-Adeni Arabic;ae=Avestan;"
    "aeb=Tunisian Arabic;af=Afrikaans;ajp=South Levantine Arabic;ak=Akan;am=Amharic;an=Aragonese;"
    "apc=North Levantine Arabic;ar=Arabic;ars=Najdi Arabic;ary=Moroccan Arabic;arz=Egyptian Arabic;"
    "as=Assamese;ast=Asturian;av=Avar;awa=Awadhi;ay=Aymara;az=Azerbaijani;azb=South Azerbaijani;"
    "ba=Bashkir;ban=Balinese;be=Belarusian;bem=Bemba;bg=Bulgarian;bho=Bhojpuri;bi=Bislama;"
    "bjn=Banjar;bm=Bambara;bn=Bengali;bo=Tibetan;br=Breton;bs=Bosnian;bug=Buginese;ca=Catalan;"
    "ce=Chechen;ceb=Cebuano;ch=Chamorro;cjk=Chokwe;ckb=Central Kurdish;co=Corsican;cr=Cree;"
    "crh=Crimean Tatar;cs=Czech;cu=Church Slavonic;cv=Chuvash;cy=Welsh;da=Danish;de=German;"
    "dik=Southwestern Dinka;dv=Divehi;dyu=Dyula;dz=Dzongkha;ee=Ewe;el=Greek;en=English;"
    "eo=Esperanto;es=Spanish;et=Estonian;eu=Basque;fa=Persian;ff=Fulah;fi=Finnish;fj=Fijian;"
    "fo=Faroese;fon=Fon;fr=French;fur=Friulian;fy=Western Frisian;ga=Irish;gd=Scottish Gaelic;"
    "gl=Galician;gn=Guarani;gu=Gujarati;gv=Manx;ha=Hausa;he=Hebrew;hi=Hindi;hne=Chhattisgarhi;"
    "ho=Hiri Motu;hr=Croatian;ht=Haitian Creole;hu=Hungarian;hy=Armenian;hz=Herero;ia=Interlingua;"
    "id=Indonesian;ie=Interlingue;ig=Igbo;ii=Sichuan Yi;ik=Inupiaq;ilo=Ilocano;io=Ido;is=Icelandic;"
    "it=Italian;iu=Inuktitut;ja=Japanese;jv=Javanese;ka=Georgian;kab=Kabyle;kac=Jingpho;kam=Kamba;"
    "kbp=Kabiyè;kea=Kabuverdianu;kg=Kongo;ki=Kikuyu;kj=Kuanyama;kk=Kazakh;kl=Greenlandic;km=Khmer;"
    "kmb=Kimbundu;kn=Kannada;ko=Korean;kr=Kanuri;ks=Kashmiri;ku=Kurdish;kv=Komi;kw=Cornish;"
    "ky=Kyrgyz;la=Latin;lb=Luxembourgish;lg=Ganda;li=Limburgish;lij=Ligurian;lmo=Lombard;"
    "ln=Lingala;lo=Lao;lt=Lithuanian;ltg=Latgalian;lu=Luba-Katanga;lua=Luba-Kasai;luo=Luo;lus=Mizo;"
    "lv=Latvian;mag=Magahi;mai=Maithili;mg=Malagasy;mh=Marshallese;mi=Maori;min=Minangkabau;"
    "mk=Macedonian;ml=Malayalam;mn=Mongolian;mni=Manipuri;mos=Mossi;mr=Marathi;ms=Malay;mt=Maltese;"
    "my=Burmese;na=Nauru;nb=Norwegian Bokmål;nd=North Ndebele;ne=Nepali;ng=Ndonga;nl=Dutch;"
    "nn=Norwegian Nynorsk;no=Norwegian;nr=South Ndebele;ns=Northern Sotho;nso=Northern Sotho;"
    "nus=Nuer;nv=Navajo;ny=Chichewa;oc=Occitan;oj=Ojibwe;om=Oromo;or=Odia;os=Ossetian;pa=Punjabi;"
    "pag=Pangasinan;pap=Papiamento;pi=Pali;pl=Polish;prs=Dari;ps=Pashto;pt=Portuguese;qu=Quechua;"
    "rm=Romansh;rn=Rundi;ro=Romanian;ru=Russian;rw=Kinyarwanda;sa=Sanskrit;sat=Santali;"
    "sc=Sardinian;scn=Sicilian;sd=Sindhi;se=Northern Sami;sg=Sango;shn=Shan;si=Sinhala;sk=Slovak;"
    "sl=Slovenian;sm=Samoan;sn=Shona;so=Somali;sq=Albanian;sr=Serbian;ss=Swati;st=Southern Sotho;"
    "su=Sundanese;sv=Swedish;sw=Swahili;szl=Silesian;ta=Tamil;taq=Tamasheq;te=Telugu;tg=Tajik;"
    "th=Thai;ti=Tigrinya;tk=Turkmen;tl=Tagalog;tn=Tswana;to=Tongan;tpi=Tok Pisin;tr=Turkish;"
    "ts=Tsonga;tt=Tatar;tum=Tumbuka;tw=Twi;ty=Tahitian;tzm=Central Atlas Tamazight;ug=Uyghur;"
    "uk=Ukrainian;umb=Umbundu;ur=Urdu;uz=Uzbek;ve=Venda;vec=Venetian;vi=Vietnamese;vo=Volapük;"
    "wa=Walloon;war=Waray;wo=Wolof;xh=Xhosa;yi=Yiddish;yo=Yoruba;yue=Cantonese;za=Zhuang;"
    "zh=Chinese;zh-Hant=Chinese (traditional);zu=Zulu;";

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

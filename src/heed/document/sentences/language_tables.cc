#include "heed/document/sentences/language_tables.h"

namespace heed::document {
namespace {

constexpr LanguageTable kTables[] = {
    {.code = "en",
     .iso3 = "eng",
     .ordinals = false,
     .before_name =
         "mr mrs ms mx dr prof messrs mssrs st mt ft rev hon gen col maj capt cmdr comdr lt sgt "
         "cpl pvt pfc adm gov sen sens rep reps pres supt insp det brig fr msgr "
         "atty attys amb vs v cf e.g i.e eg ie viz approx ca esp incl",
     .before_number =
         "no nos art arts p pp pg fig figs sec secs ch chap chs vol vols eq eqs ref refs tab ext "
         "n° nr para paras c app",
     .inside =
         "co corp inc ltd llc llp plc bros jr sr dept univ assn assoc ave blvd rd hwy bldg apt "
         "ste ph.d m.d b.a m.a b.sc m.sc d.c u.s u.k e.u u.n u.s.a a.m p.m a.d b.c ed eds trans "
         "est al jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri "
         "min max ala ariz ark calif colo conn del fla ind kan ky md mich "
         "minn mo mont neb nev okla pa penn tenn tex va vt wis wyo n.y n.j l.a anon "
         "gal tel temp intl natl govt mfg ry sq pl cres hosp",
     .at_end = "etc ibid",
     .starters =
         "a about after all although an and another are as at because before both but by can did "
         "do does during each even every first for from had has have he her here his how however "
         "i if in instead is it it's its let many more most my no not now of on once one only "
         "or other our please several she should since so some such that the their then there "
         "these they this those though thus to today under until was we were what when where "
         "which while who why will with would yes yet you your"},
    {.code = "de",
     .iso3 = "deu",
     .ordinals = true,
     .before_name =
         "dr prof hr hrn fr frl st sr dipl dipl.-ing ing mag univ.-prof z.b z.t d.h i.d.r i.a "
         "s.o s.u v.a u.a o.ä.w bzw bspw bzgl ca evtl ggf ggfs vgl sog sogen gem einschl inkl "
         "insb insbes zzgl exkl ausschl lt med phil jur rer nat theol habil hl geb gest verh "
         "ehem stellv urspr z d i.e a.d v.d unt königl kgl kath ev gen maj hptm oberstlt",
     .before_number =
         "nr nrn art abs abschn s bd bde kap abb tab ziff rn rdnr anm fn buchst satz lfd hs "
         "aufl jg h vol ps jh jhd",
     .inside = "u.ä o.ä u.dgl dgl dergl str pl tel mio mrd mill std min sek jhdt jh jhs chr v.chr "
               "n.chr co gebr jun sen jr ff f aufl hrsg hg verl bearb übers abt anz ber bes bev "
               "bundesl dt engl frz ital jan feb febr apr jun jul aug sep sept okt nov dez mo di "
               "fr max mind temp gest inh kfm stk zl allg amtl m.e m.w zt z.zt zzt a.m "
               "b.a m.a",
     .at_end = "usw usf etc u.s.w u.v.m uvm e.v a.a.o",
     .starters =
         "aber alle allerdings als am an anschließend auch auf aus außerdem bei beide beim bis "
         "da dabei dadurch daher damit danach dann daraufhin darüber das dass dazu dem den denn "
         "der deren des deshalb dessen die dies diese dieser dieses dort durch ein eine einem "
         "einen einer einige er erst es etwa für gegen heute hier ich ihr ihre im in insgesamt "
         "ist jedoch jetzt kein keine man mehr mein mit nach nachdem neben nicht noch nun nur "
         "ob obwohl oder ohne schon sehr sein seine seit seitdem sie sind so sowohl später trotz "
         "trotzdem um und unter viele vom von vor war was weil weitere wenn wer wie wir während "
         "zu zudem zum zur zwar zwischen"},
    {.code = "es",
     .iso3 = "spa",
     .ordinals = false,
     .before_name =
         "sr sra srta sres sras dr dra dres lic ing arq prof profa d dª dña don gral cap cnel "
         "tte sgto almte mons rvdo rdo fr sto sta s.m s.a.r excmo excma ilmo ilma p.ej "
         "vid cf aprox gob pdte mtro ntra ntro",
     .before_number = "no núm núms nº n art arts pág págs p pp cap vol t fig figs tel tfno ext "
                      "km apdo calle",
     .inside =
         "vs av avda ctra pza dpto depto cía co ltd ltda inc s.a s.l s.r.l ee.uu ee.uu.aa rr.hh "
         "ff.cc ff.aa cc.aa jj.oo a.c d.c a.m p.m a.de.c d.de.c máx mín ed eds trad coord comp "
         "jr ene feb abr may jun jul ago sep sept oct nov lun mié jue vie sáb dom ud uds "
         "vd vds izq izda dcha dcho hnos admón prov aa uu ee bs dicc tamb cta bco",
     .at_end = "etc",
     .starters =
         "a además ahora al algunas algunos antes así aunque cada como con cuando cuenta dado de "
         "debido del desde después dicha dicho donde durante el ella ellas ellos en entonces "
         "entre era eran es esa ese eso esta estas este esto estos está fue fueron ha hasta hay "
         "la las le les lo los luego mas mientras mucho muy más ni no nos nuestra otra otro para "
         "pero por porque posteriormente que quien se segun según ser si sin sobre solo son su "
         "sus sólo también tanto tiene todas todo todos tras tu un una unas uno unos ya yo él"},
    {.code = "fr",
     .iso3 = "fra",
     .ordinals = false,
     .before_name =
         "m mm mr mme mmes mlle mlles dr drs pr prof mes mgr st ste sts stes cf c.-à-d p.ex "
         "env gal col cdt lt sgt vve ch av boul",
     .before_number =
         "no n° nos art arts p pp pg fig figs vol vols chap t tél al éq réf sect par §",
     .inside =
         "bd bld boulv ave pl rte fg éd éds coll trad ibid id op suppl sér adj adv inv ltd "
         "inc cie co s.a s.a.r.l s.n.c.f jr janv févr avr juil sept oct nov déc lun jeu ven "
         "sam dim env hab max min a.m av.j.-c apr.j.-c j.-c apr masc fém sing plur etc.al éd dép",
     .at_end = "etc",
     .starters =
         "a ainsi alors après au aucun aujourd'hui aussi autour aux avant avec bien c'est car ce "
         "cela celle celui cependant ces cet cette chaque ceci comme d'autres dans de depuis des "
         "dès donc du durant elle elles en encore enfin ensuite entre est et grâce il ils je "
         "jusqu'à l'on la le les leur leurs lors lorsque lui mais malgré mon même ne non nos "
         "notre nous on or ou où par parmi pendant peu plus plusieurs pour pourtant puis quand "
         "que quelques qui sa sans se selon ses seul si sinon son sous sur tous tout toutefois "
         "toutes très tu un une vers voici voilà vos votre vous y à"},
    {.code = "it",
     .iso3 = "ita",
     .ordinals = false,
     .before_name =
         "sig sig.ra sigg sig.na dott dott.ssa dr prof prof.ssa ing avv arch geom rag on sen mons "
         "don s ss gen col cap ten es p.es cfr ca spett egr gent.mo gent.ma ill.mo rev",
     .before_number = "n nr art artt pag pagg p pp cap vol fig tab tel sec par all",
     .inside = "s.p.a s.r.l s.n.c ecc.mo a.c d.c p.zza v.le c.so gen feb apr mag giu lug ago set "
               "sett ott nov dic lun mer gio ven sab dom max min ed trad jr ltd inc co b.c",
     .at_end = "ecc etc",
     .starters =
         "a ad al alla alcune alcuni anche ancora come con così da dal dalla del della di dopo "
         "dove durante e ed era fu gli ha i il in infatti inoltre io l'altro la le lo lui lei "
         "loro ma mentre molti ne nel nella nelle non oggi ogni per perché però più poi può "
         "qualche quando quella quelle quelli quello questa queste questi questo qui se sebbene "
         "secondo si solo sono sotto su successivamente sul sulla tra tutti tutto un una uno"},
    {.code = "pt",
     .iso3 = "por",
     .ordinals = false,
     .before_name =
         "sr sra sres sras srta dr dra drs profa prof eng arq d dom st sto sta exmo exma ilmo "
         "ilma gen cel cap ten sgt p.ex ex cf aprox v.exa",
     .before_number = "n nº no núm art arts pág págs p pp cap vol fig tab tel séc ref",
     .inside = "av r pça tv rod cia ltda s.a inc co jr a.c d.c a.m p.m ed eds trad jan fev abr mai "
               "jun jul ago set out nov dez seg qua qui sex sáb máx mín dept depto e.u.a km",
     .at_end = "etc",
     .starters =
         "a ainda além algumas alguns ao aos após apesar as assim até cada com como contudo da "
         "das de depois desde do dos durante e ela elas ele eles em embora entre entretanto era "
         "essa esse esta este eu foi foram há hoje isso isto já mais mas muito na nas nesta neste "
         "no nos não o onde os ou outra outro para pela pelo por porque porém quando que quem se "
         "segundo sem ser seu seus sobre sua suas também tem todas todos tudo um uma você à é"},
    {.code = "nl",
     .iso3 = "nld",
     .ordinals = false,
     .before_name =
         "dhr mevr mw mej mr drs dr ir ing prof ds st hr bijv bv d.w.z m.n m.b.t m.b.v "
         "i.p.v i.v.m t.a.v t.o.v z.g zgn ca ong resp vgl incl excl aanw vnw bw fa gen kol kap "
         "lt",
     .before_number = "nr nrs art p pp blz pag hfdst fig afb tab deel jrg vol tel",
     .inside =
         "b.v n.v e.a a.u.b o.a v.chr n.chr jan feb mrt apr jun jul aug sep sept okt nov dec ma "
         "di wo vr za zo max min jr sr co ltd inc mln mld red uitg",
     .at_end = "enz etc e.d ed m.a.w",
     .starters =
         "aan al alle als ook bij binnen daar daarna daarom dan dat de deze die dit door een "
         "en er dus haar heeft het hier hij hoe hun ik in is je maar men met mijn na naar niet "
         "nog nu of om onder ons op over sinds te ten tijdens toen tot uit van veel verder vanaf "
         "volgens voor vooral waar wanneer want wat we wie wij ze zij zijn zo zoals zonder"},
    {.code = "ru",
     .iso3 = "rus",
     .ordinals = false,
     .before_name =
         "св г гг.г гр г-н г-жа им проф акад доц д-р инж ген полк подп кап ул пр просп пер пл "
         "наб бул ш пос дер с оз р обл р-н респ т.е т.н т.к т.наз напр в.т.ч ср см тов гос "
         "н.э.до букв англ нем фр франц итал исп лат греч араб яп кит тур польск рус укр "
         "др.-греч санскр тж",
     .before_number = "№ рис табл гл ст п пп стр с т тт вып ч кн изд разд тел д кв корп стр оф",
     .inside =
         "пр мин гг вв в л руб коп тыс млн млрд трлн чел экз км м см мм кг кв куб куб.м "
         "сек час ч мл ст янв фев февр мар апр июн июл авг сен сент окт ноя нояб "
         "дек пн вт ср чт пт сб вс шт ок прибл макс ред сост пер авт соч собр изд-во ун-т ин-т "
         "долл грн а.е у.е с.ш в.д ю.ш з.д б.ч",
     .at_end = "н.э т.д т.п др",
     .starters =
         "а без более был была были было в вместе во впервые все всего вскоре вы где да далее "
         "для до его ее ей если есть ещё еще её за затем здесь и из из-за или им именно их к "
         "как каждый ко когда кроме кто который лишь между многие может мы на над некоторые но "
         "однако о об обычно он она они оно от перед по под позднее позже после поэтому при с "
         "сам сегодня со согласно среди также так там тем тогда только у уже хотя через что "
         "чтобы эта эти это этот я являлся является"},
    {.code = "uk",
     .iso3 = "ukr",
     .ordinals = false,
     .before_name =
         "р м ім проф акад доц д-р інж ген св вул просп пров пл наб бул с смт обл р-н т.зв напр "
         "див пор англ нім фр лат грец рос укр",
     .before_number = "№ рис табл гл ст п пп с т тт вип ч кн розд тел буд кв",
     .inside =
         "т.п т.д ін рр ст тис млн млрд чол грн коп км мм кг хв сек н.е до.н.е бл ред пер вид "
         "січ лют бер квіт трав черв лип серп вер жовт лист груд",
     .at_end = "",
     .starters =
         "а або але без більше був була були в вже ви від вона вони воно все всі він для до за "
         "згодом й його з зі і із коли крім лише ми на над не однак перед по при про після та "
         "так також там тільки то тому у у хоча це цей ця що щоб я як якщо її їх є"},
    {.code = "pl",
     .iso3 = "pol",
     .ordinals = true,
     .before_name =
         "dr prof mgr inż hab doc ks bp abp o św śp gen płk kpt por ppor płk ul al pl os np tzn "
         "tzw tj m.in ok wg im red lek dot pt ww zob por ang niem fr łac wł bałt",
     .before_number = "nr art ust pkt poz str s t tom rozdz rys tab zał tel par § lit vol",
     .inside =
         "r w wiek tys mln mld zł gr godz min sek sp z.o.o s.a p.n.e n.e m.st woj pow gm jr sr "
         "stycz lut mar kwiet czerw lip sierp wrz paź list grud maks wyd tłum oprac itp.d ub ur "
         "zm sygn",
     .at_end = "itd itp etc in",
     .starters =
         "a aby ale bez był była było był by co czy dla do dlatego gdy gdzie i ich ja jak jako "
         "jednak jego jej jest jeśli jeszcze już każdy kiedy kto która które który lecz ma mimo "
         "może na nad natomiast nie niektóre o obecnie od on ona one oni oraz po pod podczas "
         "pomimo ponadto ponieważ potem przed przez przy się są ta tak także tam te ten to tu "
         "tylko tym w we wszystko wtedy z za ze"},
    {.code = "cs",
     .iso3 = "ces",
     .ordinals = true,
     .before_name =
         "dr prof doc ing mgr bc judr mudr phdr rndr pan p pí sl sv gen plk kpt por ul nám tř "
         "např tzv tj tzn mj resp cca zejm srov angl něm lat řec franc",
     .before_number = "č čís čl odst písm str s sv kap obr tab roč vyd tel par §",
     .inside =
         "r st tis mil mld kč hod min sek a.s s.r.o n.l př.n.l jr ml led úno bře dub květ čvn "
         "čvc srp zář říj lis pros max red přel nakl",
     .at_end = "atd apod aj etc",
     .starters =
         "a ale ani až bez by byl byla bylo byly co další do i jako jak je jeho jejich její jen "
         "ještě k kde kdo kdyby když která který které ma mezi má na nad ne nebo než o od on ona "
         "oni po pod podle poté pro protože před při s se si své tak také tam ten tento této to "
         "toto tyto u v ve však všechny z za ze že"},
    {.code = "sv",
     .iso3 = "swe",
     .ordinals = false,
     .before_name = "dr prof hr fru s:t t.ex bl.a d.v.s s.k dvs ca fr.o.m t.o.m m.a.o jfr resp "
                    "inkl exkl ung",
     .before_number = "nr s sid kap fig tab art vol st §",
     .inside = "f.kr e.kr f.d kl kr milj mkr jr sr jan feb apr jun jul aug sep sept okt nov dec "
               "max min red övers tel",
     .at_end = "etc osv m.m m.fl o.s.v o.d",
     .starters =
         "alla att av bland de den denna dessa det detta då därför efter eller en enligt ett "
         "från före för genom hade han hans har hon här i inom jag kan man med men mot medan "
         "ni nu när och om på sedan som så till trots under ur var vi vid är även år"},
    {.code = "da",
     .iso3 = "dan",
     .ordinals = true,
     .before_name = "dr prof hr fru frk skt sct f.eks bl.a d.v.s dvs ca jf evt inkl ekskl hhv pga",
     .before_number = "nr s sid kap fig tab art stk pkt bd vol §",
     .inside = "f.kr e.kr f.v.t kl kr mio mia jr sr jan feb mar apr jun jul aug sep sept okt nov "
               "dec maks min red tlf",
     .at_end = "etc osv m.m m.fl o.l o.lign mv",
     .starters =
         "alle at blandt da de den denne der derfor dermed det dette disse du efter eller en er "
         "et fra før for gennem han hans har hun hvad hver hvis hvor i ifølge ikke jeg kan man "
         "med mens men mod nu når og også om på samt senere som så til under ved var vi"},
    {.code = "no",
     .iso3 = "nob",
     .ordinals = true,
     .before_name = "dr prof hr fru frk st f.eks bl.a d.v.s dvs ca jf evt inkl ekskl hhv",
     .before_number = "nr s kap fig tab art pkt bd vol §",
     .inside = "f.kr e.kr kl kr mill mrd jr sr jan feb mar apr jun jul aug sep sept okt nov des "
               "maks min red tlf",
     .at_end = "etc osv m.m m.fl o.l mv",
     .starters =
         "alle at blant da de den denne der derfor det dette disse du etter eller en er et fra "
         "før for gjennom han hans har hun hva hver hvis hvor i ifølge ikke jeg kan man med mens "
         "men mot nå når og også om på samt senere som så til under ved var vi"},
    {.code = "fi",
     .iso3 = "fin",
     .ordinals = true,
     .before_name = "tri prof hra rva esim ks vrt mm ts eli n ns toim",
     .before_number = "nro nr s ss luku kuva taul vol §",
     .inside = "eaa jaa jkr ekr klo milj mrd jr sr tammi helmi maalis huhti touko kesä heinä elo "
               "syys loka marras joulu puh",
     .at_end = "jne yms ym tms",
     .starters =
         "aluksi ei eikä ennen että he hän hänen ja jo jos joten kaikki kanssa kuitenkin kun kuin "
         "lisäksi me minä mutta myös myöhemmin ne niin nyt ollessa on se sen siellä sitten tai "
         "tämä tämän te vain vaikka vuonna yksi"},
    {.code = "hu",
     .iso3 = "hun",
     .ordinals = true,
     .before_name = "dr prof özv ifj id szt pl ún kb ill vö ld stb.i",
     .before_number = "sz old o fej tab ábra köt §",
     .inside = "kft rt zrt bt u i.e i.sz kr ker u k mill jan feb febr márc ápr máj jún júl aug "
               "szept okt nov dec min max tel",
     .at_end = "stb",
     .starters =
         "a az azonban azt bár de csak egy ekkor ez ezek ezt és ha hogy ide is itt így majd már "
         "még míg mert mint most nem ő ők s sok szerint után több utóbb volt"},
    {.code = "ro",
     .iso3 = "ron",
     .ordinals = false,
     .before_name = "dl d-l dna d-na dr prof ing av sf gen col cpt str bd ex cca aprox",
     .before_number = "nr art alin p pp pag cap fig vol tab tel lit",
     .inside = "s.a s.r.l î.hr d.hr a.m p.m mil mld ian feb febr mar apr iun iul aug sept oct "
               "nov dec jr ed trad jud com",
     .at_end = "etc ș.a ş.a",
     .starters =
         "a acest acesta aceste această ai al am ar astfel au această ca care cu cum când că "
         "dacă dar de din după ea ei el este eu fiind în însă la le mai nu o pe pentru prin "
         "sa se si sunt un una unde și să toate"},
    {.code = "ca",
     .iso3 = "cat",
     .ordinals = false,
     .before_name = "sr sra srs dr dra prof mn st sta p.ex ex cf aprox",
     .before_number = "núm n art pàg pàgs p pp cap vol fig tel",
     .inside = "av pl c ctra dept s.a s.l ee.uu a.c d.c gen febr abr jul set oct nov des màx mín "
               "ed jr",
     .at_end = "etc",
     .starters =
         "a al amb aquest aquesta aquestes aquests així com de del des després durant el ell ella "
         "els en entre era es és això fins fou hi i ja l'any la les més no on o per però què "
         "quan que s'hi se segons si sobre són també tot un una va van"},
    {.code = "tr",
     .iso3 = "tur",
     .ordinals = true,
     .before_name = "dr prof doç yrd av öğr gör uzm alb yb bnb yzb org korg tümg st hz bkz örn ör",
     .before_number = "no nu s ss sf c cilt böl şek tab md mad §",
     .inside = "m.ö m.s i.ö i.s a.ş ltd şti cad sok mah apt tel yy dk sn sa jr",
     .at_end = "vb vs vd",
     .starters =
         "ama ancak ayrıca ben bir biz bu bunlar bunun böylece çok çünkü da daha de eğer en fakat "
         "gibi her hiç için ile ise o onlar onun şu sonra siz ve ya"},
    {.code = "el",
     .iso3 = "ell",
     .ordinals = false,
     .before_name = "κ κος κα κος δρ καθ αγ π.χ δηλ βλ πρβλ περ λεγ",
     .before_number = "αρ αριθ σελ σ κεφ τόμ εικ πίν άρθρ παρ τηλ",
     .inside = "π.χ. μ.χ α.ε ε.π.ε ιαν φεβ μαρ απρ ιουν ιουλ αυγ σεπ οκτ νοε δεκ εκ",
     .at_end = "κ.λπ κλπ κ.ά κ.τ.λ κτλ κ.α",
     .starters =
         "αλλά αν από αυτά αυτή αυτό αυτός για δεν είναι επίσης εκεί ένα ένας έτσι η ή ήταν θα ο "
         "οι και κατά με μετά μια μία μόνο να οι όμως όταν ό,τι πριν που προς πώς σε στα στη "
         "στην στις στο στον τα της τη την τις το του τους των τώρα ως"},
};

}  // namespace

std::span<const LanguageTable> language_tables() { return kTables; }

}  // namespace heed::document

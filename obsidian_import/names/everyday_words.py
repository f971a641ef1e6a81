"""Words as data: English words that are never a name by themselves, and function words to tell a language by."""

# ruff: noqa: SIM905  (one word a line would be two thousand lines)

from __future__ import annotations

from typing import Final

FUNCTION: Final = frozenset(
    """
    a about above across after again against ago all almost along already also although always am among an and
    another any anybody anyone anything anyway are aren't around as at away back be became because become been
    before behind being below beneath beside besides between beyond both but by can can't cannot could couldn't
    did didn't do does doesn't doing don't done down due during each either else enough etc even ever every
    everybody everyone everything few first for from further had has have having he her here hers herself him
    himself his how however i if in indeed instead into is isn't it it's its itself just last later least less let
    lot lots many may maybe me might mine more most much must my myself near neither never nevertheless next no
    nobody none nor not nothing now of off often ok okay on once one only onto or other others otherwise our ours
    ourselves out over own per perhaps please quite rather really same second several shall she should since so
    some somebody someone something sometimes somewhere soon still such than thank thanks that that's the their
    theirs them themselves then there therefore these they third this those though three through throughout thus
    till to together too toward towards two under unless until up upon us usually very via was we well were what
    whatever when whenever where whether which while who whoever whole whom whose why will with within without
    won't would yes yet you your yours yourself yourselves
    """.split()
)
"""Linked only where a person said so (`accepted`); no evidence of the vault makes them names."""

EVERYDAY: Final = frozenset(
    """
    able access account action actions active activity add address age agenda air answer answers api app
    application apps apr april archive area areas argument article articles ask asset assets aug august author
    backlog bad base basic basics begin best better big bit black blog blue board body book books bottom box
    branch break brief bring bug bugs build building business button buy calendar call calls car card cards care
    case cases category cause center challenge change changelog changes channel chapter chat check checklist child
    children choice city class clean clear client close cloud code color comment comments common community company
    computer concept concepts conclusion condition config content contents context control copy core cost country
    course courses create current customer daily dashboard data date day days deal dec december decision decisions
    default definition delete demo design desk detail details development device diary different document
    documents door draft drafts drive early easy edit effect email end energy english entry error errors event
    events example examples exercise experience eye face fact fail fall family faq feature features feb february
    field file files film final finance find fire fix fixes flow focus folder follow food form format free fri
    friday friend friends full fun function future game games general get give go goal goals good great green
    ground group groups growth guide hand hands happy hard head health heart help hi high history hold home hope
    hour hours house idea ideas image images important improve inbox index info information input inspiration
    intro introduction issue issues item items jan january job join journal jul july jun june keep key keys kind
    know knowledge lab language large late law lead learn learning leave left lesson lessons letter level library
    life light like line link links list lists literature little live local location log logs long look loss love
    low main make man management map mar march market master material matter mean means media meet meeting
    meetings member memory men menu message messages method methods mind minute misc mobile mode model mon monday
    money month monthly months morning move movie movies music name names nature need network new news night
    normal note notes nov november number numbers oct october offer office old open option options order outline
    output overview owner page pages paper papers parent part parts party pass past path pay people person
    personal phone photo photos picture pictures place plan planning plans play poem point points policy post
    posts power practice present press price principle principles private problem problems process product
    production profile program progress project projects prompt prompts proof public purpose put question
    questions quick quote quotes random rate read reading readme reality reason recipe recipes record records red
    reference references release report reports request requests research resource resources rest result results
    return review reviews right risk road role room routine rule rules run sales sat saturday save say school
    science score scratch script search season section security see self send sep sept september series service
    session set setting settings setup share shop short show side sign simple site size skill skills sleep small
    social society software solution sort sound source sources space spaces special speech staff stage standard
    start state statement states status step steps stop store story strategy street strong structure student study
    stuff style subject success summary summer sun sunday support sure system systems table tag tags take talk
    target task tasks team teams technology template templates term terms test testing tests text thing things
    think thinking thought thoughts thu thur thurs thursday ticket time times tip tips title today todo tomorrow
    tool tools top topic topics training travel tree trip true truth try tue tues tuesday turn type types
    understand untitled update updates url use user users using value values version video videos view voice wait
    walk wall want war watch water way ways web website wed wednesday week weekly weeks welcome white wiki win
    window winter wish woman women wonder word words work workflow working workshop world write writer writing
    year yearly years yesterday young
    """.split()
)
"""Everyday words: as likely a word as a name. Only the vault's own links speak for them."""

TELLTALE: Final = {
    "de": frozenset("auch auf bei das dem den der die ein eine für ich ist mit nicht sich und von wie wir".split()),
    "fr": frozenset("au avec ce dans des du est et je la le les nous pas pour que qui sur une vous".split()),
    "es": frozenset("al como con del el es está las lo los muy más para pero por que se su una y".split()),
    "it": frozenset("anche che come con del della di e gli il lo ma nel non per più si sono una è".split()),
    "pt": frozenset("ao as com como da do e em mais mas não o os para por que se seu uma é".split()),
    "nl": frozenset("aan als bij dat de een en er het is maar met naar niet ook op van voor wij zijn".split()),
    "sv": frozenset("att av den det en ett för har inte jag med men och om på som till vi är".split()),
    "pl": frozenset("ale co czy dla do i jak jest na nie od po przez się są tak to w z że".split()),
}
"""Function words per language; a text that holds several different ones is (also) in that language."""

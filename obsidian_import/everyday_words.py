"""Words as data: English words that are never a name by themselves, and function words to tell a language by."""

from __future__ import annotations

from typing import Final

FUNCTION: Final = frozenset(
    """
    a about above across after again against ago all almost along already also although always am among an and
    another any anybody anyone anything anyway are aren't around as at away back be became because become been before
    behind being below beneath beside besides between beyond both but by can can't cannot could couldn't did didn't do
    does doesn't doing don't done down due during each either else enough etc even ever every everybody everyone
    everything few first for from further had has have having he her here hers herself him himself his how however i
    if in indeed instead into is isn't it it's its itself just last later least less let lot lots many may maybe me
    might mine more most much must my myself near neither never nevertheless next no nobody none nor not nothing now
    of off often on once one only onto or other others otherwise our ours ourselves out over own per perhaps please
    quite rather really same second several shall she should since so some somebody someone something sometimes
    somewhere soon still such than thank thanks that that's the their theirs them themselves then there therefore these
    they third this those though three through throughout thus till to together too toward towards two under unless
    until up upon us usually very via was we well were what whatever when whenever where whether which while who whoever
    whole whom whose why will with within without won't would yes yet you your yours yourself yourselves okay ok
    """.split()
)
"""Linked only where a person said so (`accepted`); no evidence of the vault makes them names."""

EVERYDAY: Final = frozenset(
    """
    able access account action actions active activity add address age agenda air answer answers api app application
    apps april archive area areas argument article articles ask asset assets august author backlog bad base basic
    basics begin best better big bit black blog blue board body book books bottom box branch break brief bring bug bugs
    build building business button buy calendar call calls car card cards care case cases category cause center
    challenge change changes changelog channel chapter chat check checklist child children choice city class clean
    clear client close cloud code color comment comments common community company computer concept concepts conclusion
    condition config content contents context control copy core cost country course courses create current customer
    daily dashboard data date day days deal december decision decisions default definition delete demo design desk
    detail details development device diary different document documents door draft drafts drive early easy edit effect
    email end energy english entry error errors event events example examples exercise experience eye face fact fail
    fall family faq features feature february field file files film final finance find fire fix fixes flow focus folder
    follow food form format free friday friend friends full function fun future game games general get give go goal
    goals good great green ground group groups growth guide hand hands happy hard head health heart help hi high history
    hold home hope hour hours house ideas idea image images important improve inbox index info information input
    inspiration intro introduction issue issues item items january job join journal july june keep key keys kind know
    knowledge lab language large late law lead learn learning leave left lesson lessons letter level library life light
    like line link links list lists literature little live local location log logs long look loss love low main make
    man management map march market master material matter mean means media meet meeting meetings member memory men
    menu message messages method methods mind minute misc mobile mode model monday money month monthly months morning
    move movie movies music name names nature need network new news night normal note notes november number numbers
    october offer office old open option options order out outline output overview owner page pages paper papers parent
    part parts party pass past path pay people person personal phone photo photos picture pictures place plan plans
    planning play point points policy poem post posts power practice present press price principle principles private
    problem problems process product production profile program progress project projects proof prompt prompts public
    purpose put question questions quick quote quotes random rate read reading readme reality reason recipe recipes
    record records red reference references release report reports request requests research resource resources rest
    result results return review reviews right risk road role room routine rule rules run sales saturday save say
    school science score scratch script search season section security see self send september series service session
    set setting settings setup share shop short show side sign simple site size skill skills sleep small social
    society software solution sort sound source sources space spaces special speech staff stage standard start state
    states statement status step steps stop store story strategy street strong structure student study stuff style
    subject success summary summer sun sunday support sure system systems table tag tags take talk target task tasks
    team teams technology template templates term terms test testing tests text thing things think thinking thought
    thoughts thursday ticket time times tip tips title today todo tomorrow tool tools top topic topics training travel
    tree trip true truth try tuesday turn type types understand untitled update updates url use user users using value
    values version video videos view voice wait walk wall want war watch water way ways web website wednesday week weekly
    weeks welcome white wiki win window winter wish woman women wonder word words work working workflow workshop world
    write writer writing year yearly years yesterday young
    """.split()
)
"""Everyday words: as likely a word as a name. Only the vault's own links speak for them."""

TELLTALE: Final = {
    "de": frozenset("der die das und ist nicht ein eine mit auf für von dem den ich wir sich auch wie bei".split()),
    "fr": frozenset("le la les des et est une pour dans que qui pas sur avec vous nous au ce du je".split()),
    "es": frozenset("el los las y es una para con que por se del como más pero su lo al muy está".split()),
    "it": frozenset("il lo gli e è una per con che di non si sono del della anche come più ma nel".split()),
    "pt": frozenset("o os as e é uma para com que por se do da não como mais mas em ao seu".split()),
    "nl": frozenset("de het een en is van niet met voor dat op zijn ook aan wij maar als bij er naar".split()),
    "sv": frozenset("och att det är som en på för med inte den av till om har jag vi men ett".split()),
    "pl": frozenset("i w na nie się jest że z do to jak co po ale tak od dla przez są czy".split()),
}
"""Function words per language; a text that holds several different ones is (also) in that language."""

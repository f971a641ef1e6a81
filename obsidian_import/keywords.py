"""The keyword map as data: what a tag is given for. `tags.py` says how a key is looked for; `docs/tags.md` explains.

Three tables of text, read once. A line of `TAGS` is `tag: key | key | …`. A key matches at the start of a word unless
`SHORT` says that it matches as a whole word only: that is for keys that begin, or are, everyday words (`git` and
`digital`, `rest`, `java` and `javascript`). `NOT` lists what a key must not be taken for; `CASED` the keys that count
only in their own spelling, and not as the first word of a sentence when that spelling is a capital and small letters.
"""

from __future__ import annotations

TAGS = """
ai: ai | artificial intelligence | generative ai
llm: llm | llms | gpt | gpt4 | chatgpt | claude | anthropic | openai | language model | ollama | mistral | llama | system prompt | prompt engineering | fine-tun
rag: rag | retrieval-augmented | retrieval augmented | vector store | vector database | vector search | pgvector | embedding model
nlp: nlp | natural language processing | sentiment analysis | named entity | spacy
machine-learning: machine learning | deep learning | neural net | pytorch | tensorflow | scikit | xgboost | hugging face | huggingface | kaggle | ml
ai-agents: mcp | ai agent | agentic | subagent | sub-agent | model context protocol | langchain | langgraph
image-generation: stable diffusion | midjourney | image generation | dall-e
python: python | django | flask | fastapi | pydantic | asyncio
javascript: javascript | js | node.js | nodejs | express.js | webpack | eslint | deno
typescript: typescript | tsx | tsconfig
react: react | reactjs | next.js | nextjs | jsx | usestate | useeffect
vue: vue | vuex | nuxt
svelte: svelte
angular: angular
rust: rust | rustc | rustup | cargo.toml
golang: go | golang | goroutine | go.mod | in go | go code | go program | go service | go module | go test | go build | go run | go get | go struct
java: java | spring boot | maven | gradle | jvm | jdk
kotlin: kotlin
csharp: c# | csharp | dotnet | .net core | .net framework | .net 6 | .net 7 | .net 8 | .net 9 | .net 10 | asp.net
cpp: c++ | cpp | cmake | clang
ruby: ruby | rails | rubocop
php: php | laravel | symfony | wordpress
swift: swift | swiftui | xcode
shell: bash | zsh | shell script | shellcheck | powershell | cron | crontab
web: html | css | tailwind | frontend | front-end | svg | web design
ux: ui | ux | user interface | user experience | figma | wireframe | usability
accessibility: accessibility | a11y | wcag | screen reader
api: api | apis | rest | rest api | rest endpoint | rest call | rest service | restful | graphql | openapi | swagger | grpc | webhook | endpoint
database: database | sql | postgres | postgresql | mysql | mariadb | sqlite | mongodb | mongo | nosql | redis | dynamodb | elasticsearch | supabase | orm | sqlalchemy | prisma | db
data-analysis: pandas | numpy | dataframe | jupyter | csv | etl | dbt | pyspark | apache spark | airflow | spreadsheet | excel | data analy | data pipeline
visualization: matplotlib | plotly | d3.js | data visuali | dashboard
data-formats: json | yaml | xml | toml | protobuf
regex: regex | regular expression
git: git | github | gitlab | gitignore | pull request | merge conflict | rebase | cherry-pick
ci: ci | ci/cd | github action | continuous integration | jenkins | circleci | pre-commit
docker: docker | podman | containeriz
kubernetes: kubernetes | k8s | kubectl | helm chart
cloud: aws | gcp | azure | google cloud | s3 | ec2 | terraform | serverless | cloudflare | vercel | heroku
deployment: deploy | rollback | rolling update
linux: linux | ubuntu | debian | systemd | systemctl
macos: macos | homebrew
windows: windows 10 | windows 11 | wsl | win32
networking: dns | tcp | vpn | nginx | websocket | load balanc | reverse proxy | firewall | networking
monitoring: grafana | prometheus | observability | opentelemetry | datadog | monitoring
messaging: rabbitmq | message queue | message broker | pub/sub
testing: test | unittest | pytest | vitest | jest | playwright | selenium | tdd | code coverage
debugging: debug | bug | bugs | bugfix | traceback | stack trace | stacktrace | breakpoint | segfault
refactoring: refactor | code smell | technical debt | tech debt
code-review: code review
performance: performance | latency | bottleneck | benchmark | profiler | profiling | optimiz | optimis | memory leak
concurrency: async | multithread | deadlock | race condition | coroutine | mutex
security: security | vulnerabilit | encrypt | xss | csrf | cve | tls | ssl | owasp | malware | phishing
auth: auth | authenticat | authoriz | oauth | jwt | sso | login | openid
architecture: software architecture | system design | design pattern | microservice | event-driven | monorepo
packaging: npm | pnpm | pip | pypi | pyproject | virtualenv | conda | package manager
cli: cli | command line | command-line | terminal
editors: vim | neovim | emacs | vscode | vs code
automation: automation | automate | automating | zapier | n8n
web-scraping: web scrap | scraper | scrapy | beautifulsoup | puppeteer
mobile: android | ios | iphone | flutter | react native
game-dev: unreal engine | godot | game dev | game engine
embedded: arduino | raspberry pi | esp32 | firmware | microcontroller
blockchain: blockchain | ethereum | bitcoin | smart contract
audio-video: ffmpeg | opencv | image processing | video editing
obsidian: obsidian | zettelkasten | wikilink | dataview | second brain
markdown: markdown
documentation: documentation | docstring | readme | changelog
planning: roadmap | project plan | kanban | scrum | okr | okrs | jira
writing: essay | blog post | proofread | copywriting | short story | poem
translation: translat
math: algebra | calculus | statistical | probabilit | equation | theorem
science: physics | chemistry | biology | astronomy
education: homework | curriculum | lesson plan | exam | exams | tutoring
career: job interview | cover letter | curriculum vitae | salary
business: startup idea | startup company | my startup | startup founder | business plan | business model | marketing | go-to-market
finance: investment | investing | mortgage | monthly budget | household budget | tax return | accounting
health: workout | fitness | nutrition | vitamin | symptom
cooking: recipe | cooking | ingredient
travel: travel | itinerary
legal: lawsuit | legal advice | gdpr | copyright
"""

SHORT = """
ai llm llms gpt gpt4 rag nlp spacy ml mcp llama flask js deno tsx react jsx vue rust rustc go java maven jvm jdk c# csharp
c++ cpp clang ruby rails php swift bash zsh cron html css svg ui ux a11y api apis rest grpc sql mongo redis orm prisma db csv etl
dbt excel json yaml xml toml git ci k8s aws gcp s3 ec2 wsl win32 dns tcp vpn jest tdd bug bugs xss csrf cve tls ssl auth
jwt sso npm pnpm pip conda cli vim n8n ios okr okrs exam exams poem mistral selenium
"""

CASED = {"go": "Go", "rest": "REST", "ml": "ML", "swift": "Swift", "prisma": "Prisma"}

NOT = """
test: testament | testif | testimon | testos | testic | testes | testy
react: react to | react when | react if | react badly | react on | react differently | react quickly | react native
angular: angular moment | angular veloc | angular accel
flutter: fluttering | fluttered
optimis: optimism | optimist
performance: performance review | performance art
excel: excel at
terminal: terminal illness | terminally | terminal velocity
security: security guard | social security
"""

/** Writes the model card: what the two stages are, their training data, their quality and their limitations. */
import type { EncoderFigures, Metrics } from './evaluate.ts'
import {
  blockedTable,
  costTable,
  evasionTable,
  holdBackTable,
  probeTable,
  qualityTable,
  stagesIn,
  type NamedStage,
} from './tables.ts'

export function writeModelCard(metrics: Metrics): string {
  const parts = [about(metrics), languages, errors, injection, ...sectionsOf(metrics), training, sources]
  return `${parts.join('\n\n')}\n`
}

/** The tables alone, for the terminal. */
export function writeTables(metrics: Metrics): string {
  const isShown = (line: string): boolean => line.startsWith('#') || line.startsWith('|')
  return sectionsOf(metrics)
    .map((section) =>
      section
        .split('\n')
        .filter(isShown)
        .join('\n')
        .replaceAll(/^(#.*)$/gm, '\n$1\n')
        .replaceAll('\n\n\n', '\n\n'),
    )
    .join('\n')
}

const sectionsOf = (metrics: Metrics): readonly string[] =>
  [quality, probes, overBlocking, cost, holdBack, evasion].map((write) => write(metrics)).filter((text) => text !== '')

const about = ({ model, withEncoder }: Metrics): string => `# The moderation models

Written by \`npm run evaluate\`; do not edit.

A text is classified in two stages, and neither needs a network.

| Stage | What | Version | SHA-256 |
| --- | --- | --- | --- |
| linear | linear heads over hashed words, word pairs and character n-grams, with word lists, in WebAssembly: ${model.features} features, ${Math.round(model.bytes / 1024)} KiB, some tens of microseconds per kilobyte | ${model.version} | \`${model.digest.slice(0, 16)}…\` |
${withEncoder === undefined ? notMeasured : encoderRow(withEncoder)}

The linear stage reads every text. The encoder reads, in a thread of its own, only texts that the linear stage scores near a threshold, and both scores
are stacked. Without the package of the encoder and its run time, and while they load, the linear stage decides alone.

- Scores are calibrated so that 0.5 is the default threshold, per category and direction. They are not probabilities. All thresholds were
  chosen on the dev half of the evaluation set and on harmless text; the other half of that set was not used.
- \`sexual/minors\` is composed: sexual evidence near evidence of age, or a request about the abuse of children. The encoder does not change it.
- In the linear stage, \`self-harm\`, \`sexual\`, \`sexual/minors\` and \`illicit\` are flagged only if the text contains a word of their lists, because character
  n-grams of code and logs can add up to anything. Code, logs, tables and system prompts of agents are in the training data and in the tests.`

const notMeasured = '| encoder | not measured with this version of the linear stage | | |'

const encoderRow = ({ encoder }: EncoderFigures): string =>
  `| encoder | a BERT of 12 layers, started from bge-small-en-v1.5 and quantised to int8, in a worker thread | ${encoder.version} | \`${encoder.digest.slice(0, 16)}…\` |`

const languages = `## Languages

Both stages were made for English. For the two categories that are always blocked the linear stage also has a model of sentences in German, Spanish,
French, Italian, Portuguese, Dutch, Polish, Russian, Turkish, Arabic, Hindi, Chinese and Japanese, and phrases of people in a crisis. The
tables of probes show how much they find in each. The other categories are hardly found in these languages, and nothing is found in any
other. The encoder knows English alone: parts of a text in another language keep the verdict of the linear stage.`

const errors = `## Known errors

- Irony, coded slang that is newer than the lists, translations, ciphers and an age that is only implied pass.
- No context beyond the given text is used: a quote, a report and a statement with the same words score alike.
- Sexual writing about adults that also mentions an age below 18, a school grade or a word such as teen may be blocked as \`sexual/minors\`. Words
  about family or youth are not enough for that.
- Medical code lists and reports about suicide may be blocked as \`self-harm\`: the rows of everyday text show how often.
- In other languages than English a sentence that sounds helpless may be blocked as \`self-harm\`, and an indirect statement is often missed.
- \`harassment\`, \`hate\` and \`illicit\` are the weakest categories. Use a remote classifier or a judge model if they matter.`

const injection = `## Prompt injection

It is no category of these models. A [detector of its own](guide/prompt-injection.md#how-good-it-is) finds it, in results of tools, documents and the text of
users: a linear model of hashed words, 65 KiB. The guide has its figures and says what it does not stop.`

/** A part per stage, with a heading if there are two. */
const perStage = (metrics: Metrics, write: (stage: NamedStage) => string): string => {
  const stages = stagesIn(metrics)
  return stages.map((stage) => (stages.length > 1 ? `### ${headings[stage.name]}\n\n` : '') + write(stage)).join('\n\n')
}

const headings: Readonly<Record<NamedStage['name'], string>> = { linear: 'Linear stage', 'with encoder': 'Both stages' }

const quality = (metrics: Metrics): string => `## Quality

Measured on the dev half of a public evaluation set of 2022, which was not used for training. In brackets: the bootstrap 95 % interval
of the average precision. Recall and precision are at the default thresholds, which were chosen on this half. \`any\`: a text is positive
if one of its labels is, and its score is the highest of the labelled categories.
There is no figure for \`sexual/minors\` (no examples are kept) and none for \`illicit\` (not labelled in this set).

${qualityTable(stagesIn(metrics))}`

const probes = (metrics: Metrics): string => `## Probes

Texts written for this project, apart from the word lists and from the training examples (\`scripts/classifier/probes\`). A text is right
if it is flagged or passes as expected, both as a request and as an answer. \`npm run evaluate\` prints this table.

${probeTable(stagesIn(metrics).map(({ name, figures }) => ({ name, probes: figures.probes })))}`

const overBlocking = (metrics: Metrics): string => `## What is blocked at the default thresholds

\`always\` is either of the two categories that cannot be switched off, \`any\` is any of the six. The row with a word of age
shows how much \`sexual/minors\` flags once there is evidence of age: the best estimate of its recall, because no examples are kept.
Rows with templates held out are measured by a training run of the linear stage. Both stages read the first 2,000 turns of conversations.

${perStage(metrics, ({ name, figures }) => blockedTable(name === 'linear' ? { ...figures.blocked, ...metrics.heldOut } : figures.blocked))}`

const cost = ({ withEncoder }: Metrics): string =>
  withEncoder === undefined
    ? ''
    : `## What the encoder costs

Share of the texts about which the encoder is asked, and milliseconds of one core, on the machine of this evaluation.

${costTable(withEncoder.cost)}`

const holdBack = (
  metrics: Metrics,
): string => `## Streams: what is shown before a denial, and how late harmless text arrives

A streamed answer is scored at every word, and part of it is held back. Positives of 200 characters and more, streamed word by word: the share of
which nothing is shown, then the median and the 90th percentile of the characters shown before the denial. Harmless text: how many characters later a
character leaves, as median / mean / 99th percentile, with the two always blocked categories enforced. At 20 words a second, 120 characters are one second.

Fixed hold-back kept 64 characters of a fast stream and 32 of a slow one. Hold-back by risk keeps nothing but the unfinished word while
all scores are far below their thresholds. Where the linear stage would hold back text because of \`self-harm\`, the encoder reads the last 224 characters while
the stream goes on, and its answer is there with the next word. Ordinary text is then sent again, at the price of what is shown of a positive that
comes after harmless text. Bounds were chosen on these texts: expect somewhat worse figures on others. The positives of
\`sexual/minors\` are those of \`sexual\` with a word of age, because no examples are kept. The time that the encoder needs is not counted.
\`node bench/hold-back.ts --encoder\` measures in milliseconds how late harmless answers of several kinds arrive.

${perStage(metrics, ({ figures }) => holdBackTable(figures.holdBack))}`

const evasion = (metrics: Metrics): string => `## Evasion

Recall at the default thresholds on the positives of the dev half when they are obfuscated. The probes have a row per disguise as well.

${perStage(metrics, ({ figures }) => evasionTable(figures.evasion))}`

const training = `## Training

FOLDER has the labelled text and the evaluation sets, which are not part of the project.

| Step | Command |
| --- | --- |
| train the linear stage, in some minutes on one core; the same data give the same model, byte for byte | \`npm run train:classifier -- FOLDER\` |
| train the encoder, in some minutes on a GPU; another run gives slightly other weights | the commands in \`scripts/encoder/README.md\` |
| choose how both stages are combined, and the thresholds | \`npm run calibrate:encoder -- FOLDER VERSION\` |
| measure both stages and write this page | \`npm run evaluate -- --data FOLDER --write\` |`

const sources = `## Training data

Examples and word lists written for this project (\`scripts/classifier/authored\`, \`scripts/classifier/lexicons\`), and labelled
text of third parties, which is not part of the project:

| Source | Licence |
| --- | --- |
| T. Davidson et al., hate-speech-and-offensive-language | MIT |
| P. Röttger et al., HateCheck | CC BY 4.0 |
| P. Röttger et al., Multilingual HateCheck | CC BY 4.0 |
| H. Kirk et al., Hatemoji | CC BY 4.0 |
| J. Pavlopoulos et al., Toxic Spans | CC0 |
| Surge AI, toxicity | MIT |
| Sun et al., DiaSafety | Apache-2.0 |
| MLCommons, AILuminate demo prompts | CC BY 4.0 |
| Center for AI Safety and others: HarmBench, AdvBench, MaliciousInstruct | MIT |
| Schramowski et al., I2P prompts | MIT |
| COCO captions | CC BY 4.0 |
| Anthropic, HH-RLHF (without labels: word counts, thresholds, distillation) | MIT |
| OpenAI, moderation-api-release (evaluation only) | MIT |
| P. Röttger et al., XSTest (evaluation and thresholds only) | CC BY 4.0 |

The encoder was started from bge-small-en-v1.5 by the Beijing Academy of Artificial Intelligence (MIT), in the packaging of LangChain4j
(Apache-2.0), and runs on ONNX Runtime by Microsoft (MIT).`

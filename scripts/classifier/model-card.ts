/** Writes the model card: what the model is, its training data, its quality and its limitations. */
import type { Metrics } from './evaluate.ts'

export function writeModelCard(metrics: Metrics): string {
  return `${[about(metrics), quality(metrics), overBlocking(metrics), holdBack(metrics), evasion(metrics), sources].join('\n\n')}\n`
}

const percent = (share: number | undefined): string => (share === undefined ? '' : `${(share * 100).toFixed(1)} %`)
const decimal = (value: number): string => value.toFixed(3)

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const about = ({ model }: Metrics): string => `# The embedded moderation model

Written by \`scripts/train-classifier.ts\`; do not edit. Version ${model.version}, ${model.features} features,
${Math.round(model.bytes / 1024)} KiB, SHA-256 \`${model.digest.slice(0, 16)}…\`.

It is a baseline that needs no network: linear heads over hashed words, word pairs and character n-grams, together with
word lists, in WebAssembly, some tens of microseconds per kilobyte. It does not reach the quality of large models.

- It supports English. In other languages it recognises only a few phrases about a crisis.
- It does not recognise irony, coded slang, translations or ciphers, and uses no context beyond the given text.
- Scores are calibrated so that 0.5 is the default threshold, per category and direction. They are not probabilities.
- \`sexual/minors\` is composed: sexual evidence near evidence of age, or a request about the abuse of children. It is tuned for
  recall: much sexual writing about adults that also contains words about family or youth is blocked. An age that is only implied passes.
- \`self-harm\`, \`sexual\` and \`sexual/minors\` are flagged only if the text contains a word of their lists, because character
  n-grams of code and logs can add up to anything. Code, logs, tables and system prompts of agents are in the training data and in the tests.
- \`harassment\`, \`hate\` and \`illicit\` are weak. Use a second classifier if they matter.`

function quality({ quality: figures }: Metrics): string {
  const rows = Object.entries(figures).map(([category, figure]) => [
    category,
    `${figure.positives} / ${figure.negatives}`,
    decimal(figure.averagePrecision),
    decimal(figure.rocArea),
    decimal(figure.recall),
    decimal(figure.precision),
  ])
  return `## Quality

Measured on the dev half of a public evaluation set of 2022, which was not used for training. Recall and precision are at the default
thresholds. With so few positives the second digit is uncertain, and this half was used to choose the thresholds.
There is no figure for \`sexual/minors\` (no examples are kept) and none for \`illicit\` (not labelled in this set).

${table(['Category', 'Positives / negatives', 'Average precision', 'ROC area', 'Recall', 'Precision'], rows)}`
}

function overBlocking({ blocked, heldOut }: Metrics): string {
  const columns = Object.keys(Object.values(blocked)[0] ?? {})
  const rows = Object.entries({ ...blocked, ...heldOut }).map(([name, shares]) => [
    name,
    ...columns.map((column) => percent(shares[column])),
  ])
  return `## What is blocked at the default thresholds

\`always\` is either of the two categories that cannot be switched off, \`any\` is any of the six. The row with a word of age
shows how much \`sexual/minors\` flags once there is evidence of age: the best estimate of its recall, because no examples are kept.

${table(['Texts', ...columns], rows)}`
}

function holdBack({ holdBack: schemes }: Metrics): string {
  const shown = Object.keys(Object.values(schemes)[0]?.shown ?? {})
  const delay = Object.keys(Object.values(schemes)[0]?.delay ?? {})
  const rows = Object.entries(schemes).map(([name, figures]) => [
    name,
    ...shown.map((category) => {
      const figure = figures.shown[category]
      return figure === undefined ? '' : `${percent(figure.nothingShown)} / ${figure.median} / ${figure.p90}`
    }),
    ...delay.map((text) => {
      const figure = figures.delay[text]
      return figure === undefined ? '' : `${figure.median} / ${figure.mean} / ${figure.p99}`
    }),
  ])
  return `## Streams: what is shown before a denial, and how late harmless text arrives

A streamed answer is scored at every word, and part of it is held back. Positives of 200 characters and more, streamed word by word: the share of
which nothing is shown, then the median and the 90th percentile of the characters shown before the denial. Harmless text: how many characters later a
character leaves, as median / mean / 99th percentile, with the two always blocked categories enforced. At 20 words a second, 120 characters are one second.

Fixed hold-back kept 64 characters of a fast stream and 32 of a slow one. Hold-back by risk keeps nothing but the unfinished word while
all scores are far below their thresholds. Its bounds were chosen on these texts: expect somewhat worse figures on others. The positives of
\`sexual/minors\` are those of \`sexual\` with a word of age, because no examples are kept.

${table(['Hold-back', ...shown, ...delay], rows)}`
}

function evasion({ evasion: disguises }: Metrics): string {
  const columns = Object.keys(Object.values(disguises)[0] ?? {})
  const rows = Object.entries(disguises).map(([name, recalls]) => [
    name,
    ...columns.map((column) => decimal(recalls[column] ?? 0)),
  ])
  return `## Evasion

Recall at the default thresholds on the positives of the dev half when they are obfuscated.

${table(['Disguise', ...columns], rows)}`
}

const sources = `## Training data

Examples and word lists written for this project (\`scripts/classifier/authored\`, \`scripts/classifier/lexicons\`), and labelled
text of third parties, which is not part of the project:

| Source | Licence |
| --- | --- |
| T. Davidson et al., hate-speech-and-offensive-language | MIT |
| P. Röttger et al., HateCheck | CC BY 4.0 |
| J. Pavlopoulos et al., Toxic Spans | CC0 |
| Surge AI, toxicity | MIT |
| Sun et al., DiaSafety | Apache-2.0 |
| MLCommons, AILuminate demo prompts | CC BY 4.0 |
| Center for AI Safety and others: HarmBench, AdvBench, MaliciousInstruct | MIT |
| Schramowski et al., I2P prompts | MIT |
| COCO captions | CC BY 4.0 |
| Anthropic, HH-RLHF (word counts and thresholds only) | MIT |
| OpenAI, moderation-api-release (evaluation only) | MIT |
| P. Röttger et al., XSTest (evaluation and thresholds only) | CC BY 4.0 |`

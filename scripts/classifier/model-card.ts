/** Writes the page about the model: what it is, what it learnt from, how good it is, what it cannot do. */
import type { Metrics } from './evaluate.ts'

export function writeModelCard(metrics: Metrics): string {
  return `${[about(metrics), quality(metrics), overBlocking(metrics), evasion(metrics), sources].join('\n\n')}\n`
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

It is a floor that works with no network: linear heads over hashed words, pairs of words and character runs, together with
lists of words, in TypeScript, some tens of microseconds per kilobyte. It is not on a par with large models, and should not be sold as such.

- It reads English. Other languages are seen through a few phrases of crisis alone.
- It knows no irony, no coded slang, no translation, no cipher, and no context beyond the text it is given.
- Scores are calibrated so that 0.5 is where the default verdict turns, per category and direction. They are not probabilities.
- \`sexual/minors\` is composed: sexual evidence beside a cue of age, or a request about the abuse of children. It was made for
  recall: much sexual writing about adults that also holds family or youth words is blocked. An age that is only implied passes.
- \`self-harm\`, \`sexual\` and \`sexual/minors\` are flagged only where the text holds a word of their lists, so that the letters of
  code and logs add up to nothing. Code, logs, tables and system prompts of agents were read in training and are tested.
- \`harassment\`, \`hate\` and \`illicit\` are weak. Use a second classifier where they matter.`

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

The dev half of a public evaluation set of 2022, which was never trained on. Recall and precision are those of the default verdict.
With so few positives the second digit is uncertain, and thresholds were chosen with this half in view.
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

\`always\` is either of the two categories that cannot be switched off, \`any\` is any of the six. The row with a word of age is
what the gate of \`sexual/minors\` catches once there is a cue: the closest thing to a recall, since no examples are kept.

${table(['Texts', ...columns], rows)}`
}

function evasion({ evasion: disguises }: Metrics): string {
  const columns = Object.keys(Object.values(disguises)[0] ?? {})
  const rows = Object.entries(disguises).map(([name, recalls]) => [
    name,
    ...columns.map((column) => decimal(recalls[column] ?? 0)),
  ])
  return `## Evasion

Recall of the default verdict on the positives of the dev half, written in disguise.

${table(['Disguise', ...columns], rows)}`
}

const sources = `## What it learnt from

Examples and word lists written for this project (\`scripts/classifier/authored\`, \`scripts/classifier/lexicons\`), and labelled
text of others, of which the project holds none:

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

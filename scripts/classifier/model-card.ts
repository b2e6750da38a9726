/** Writes the model card: what the model is, its training data, its quality and its limitations. */
import type { Metrics } from './evaluate.ts'
import { blockedTable, evasionTable, holdBackTable, probeTable, qualityTable, type NamedStage } from './tables.ts'

export function writeModelCard(metrics: Metrics): string {
  return `${[about(metrics), quality(metrics), probes(metrics), overBlocking(metrics), holdBack(metrics), evasion(metrics), sources].join('\n\n')}\n`
}

/** The tables alone, for the terminal. */
export function writeTables(metrics: Metrics): string {
  const parts = [quality, probes, overBlocking, holdBack, evasion].map((write) => write(metrics))
  return parts.map((part) => `${part.split('\n', 1)[0]}\n${part.slice(part.indexOf('\n|'))}`).join('\n\n')
}

const about = ({ model }: Metrics): string => `# The embedded moderation model

Written by \`npm run evaluate\`; do not edit. Version ${model.version}, ${model.features} features,
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

const stagesIn = (metrics: Metrics): readonly NamedStage[] => [{ name: 'linear', figures: metrics }]

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

const overBlocking = ({ blocked, heldOut }: Metrics): string => `## What is blocked at the default thresholds

\`always\` is either of the two categories that cannot be switched off, \`any\` is any of the six. The row with a word of age
shows how much \`sexual/minors\` flags once there is evidence of age: the best estimate of its recall, because no examples are kept.

${blockedTable({ ...blocked, ...heldOut })}`

const holdBack = (
  metrics: Metrics,
): string => `## Streams: what is shown before a denial, and how late harmless text arrives

A streamed answer is scored at every word, and part of it is held back. Positives of 200 characters and more, streamed word by word: the share of
which nothing is shown, then the median and the 90th percentile of the characters shown before the denial. Harmless text: how many characters later a
character leaves, as median / mean / 99th percentile, with the two always blocked categories enforced. At 20 words a second, 120 characters are one second.

Fixed hold-back kept 64 characters of a fast stream and 32 of a slow one. Hold-back by risk keeps nothing but the unfinished word while
all scores are far below their thresholds. Its bounds were chosen on these texts: expect somewhat worse figures on others. The positives of
\`sexual/minors\` are those of \`sexual\` with a word of age, because no examples are kept.

${holdBackTable(metrics.holdBack)}`

const evasion = (metrics: Metrics): string => `## Evasion

Recall at the default thresholds on the positives of the dev half when they are obfuscated.

${evasionTable(metrics.evasion)}`

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

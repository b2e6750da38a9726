/** Chooses the thresholds of the language heads from scores of models that were trained without the scored text. */
import type {
  LanguageHead,
  LanguageHeadHeader,
} from '../../src/adapters/classifiers/embedded/languages/language-model.ts'
import type { LanguageRow } from './rows.ts'

export type LanguageCalibration = Readonly<Record<LanguageHead, Pick<LanguageHeadHeader, 'slope' | 'threshold'>>>

/** Which share of the authored harmless texts may be flagged. They are all near the subject; ordinary texts are further away. */
const mostFlagged = { 'self-harm': 0.018, minors: 0.012, adults: 0.08 }
/** Sad texts of other authors are less like the statements that the head knows. Without it, it blocks some of them. */
const margin = 0.4
/** The least share of the sexual texts about children that are sexual to the head of that name. It is a condition, not a verdict. */
const leastSexual = 0.95

/** Raw scores of logistic regression are log-odds already. */
const slope = 1

type Scores = Readonly<Record<LanguageHead, Float64Array>>

export function calibrate(
  rows: readonly LanguageRow[],
  scores: Scores,
): { calibration: LanguageCalibration; table: Record<string, Record<string, string>> } {
  const at = (head: LanguageHead, isOf: (row: LanguageRow) => boolean): number[] =>
    rows.flatMap((row, index) => (isOf(row) ? [scores[head][index] ?? 0] : [])).sort((one, other) => one - other)
  const isAuthored = ({ language }: LanguageRow): boolean => language.length === 2
  const isHarmless = (row: LanguageRow): boolean =>
    isAuthored(row) && row.labels['self-harm'] !== 1 && row.labels['sexual/minors'] !== 1
  const highest = (sorted: readonly number[], share: number): number =>
    sorted[Math.floor(sorted.length * (1 - share))] ?? 0
  const calibration = {
    'self-harm': { slope, threshold: highest(at('self-harm', isHarmless), mostFlagged['self-harm']) + margin },
    minors: {
      slope,
      threshold: Math.max(
        highest(
          at('minors', (row) => isHarmless(row) && row.labels.sexual !== 1),
          mostFlagged.minors,
        ),
        highest(
          at('minors', (row) => isHarmless(row) && row.labels.sexual === 1),
          mostFlagged.adults,
        ),
      ),
    },
    sexual: {
      slope,
      threshold: highest(
        at('sexual', ({ labels }) => labels['sexual/minors'] === 1),
        leastSexual,
      ),
    },
  }
  const isFound = (category: 'self-harm' | 'sexual/minors', index: number): boolean => {
    const over = (head: LanguageHead): boolean => (scores[head][index] ?? 0) >= calibration[head].threshold
    return category === 'self-harm' ? over('self-harm') : over('minors') && over('sexual')
  }
  const share = (category: 'self-harm' | 'sexual/minors', isOf: (row: LanguageRow) => boolean): string => {
    const of = rows.flatMap((row, index) => (isOf(row) ? [index] : []))
    const found = of.filter((index) => isFound(category, index)).length
    return of.length === 0 ? '' : `${((100 * found) / of.length).toFixed(1)} % of ${of.length}`
  }
  const table = Object.fromEntries(
    [...new Set(rows.map(({ language }) => language))].map((language) => {
      const isIn = (row: LanguageRow): boolean => row.language === language
      return [
        language,
        {
          'self-harm found': share('self-harm', (row) => isIn(row) && row.labels['self-harm'] === 1),
          'minors found': share('sexual/minors', (row) => isIn(row) && row.labels['sexual/minors'] === 1),
          'self-harm, harmless': share('self-harm', (row) => isIn(row) && row.labels['self-harm'] === 0),
          'minors, harmless': share('sexual/minors', (row) => isIn(row) && row.labels['sexual/minors'] === 0),
          'minors, adults': share(
            'sexual/minors',
            (row) => isIn(row) && row.labels['sexual/minors'] === 0 && row.labels.sexual === 1,
          ),
        },
      ]
    }),
  )
  return { calibration, table }
}

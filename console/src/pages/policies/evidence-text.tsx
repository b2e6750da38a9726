import { words } from '../../words/en.ts'
import type { Evaluation } from './queries.ts'
import styles from './evidence-text.module.css'

type Evidence = Evaluation['evidence'][number]
type Segment = { readonly text: string; readonly evidence?: Evidence | undefined }

/** The text with what the rule found in it, marked and named. */
export function EvidenceText({ text, evidence }: { readonly text: string; readonly evidence: readonly Evidence[] }) {
  const segments = segmentsOf(text, evidence)
  if (!segments.some((segment) => segment.evidence !== undefined)) return null
  return (
    <section className={styles.evidence} aria-label={words.policy.evidence}>
      <h3>{words.policy.evidence}</h3>
      <p>
        {segments.map((segment, at) =>
          segment.evidence === undefined ? (
            segment.text
          ) : (
            <mark key={at} title={`${segment.evidence.kind.replaceAll('_', ' ')}: ${segment.evidence.name}`}>
              {segment.text}
              {isNamed(segment.evidence) && <small>{segment.evidence.name}</small>}
            </mark>
          ),
        )}
      </p>
    </section>
  )
}

/** A phrase is its own name; a kind of personal data or a category is not in the text. */
const isNamed = ({ kind }: Evidence): boolean => kind === 'personal_data' || kind === 'category'

/** The text in order, cut where evidence starts and ends. Of overlapping evidence the earlier one is shown. */
function segmentsOf(text: string, evidence: readonly Evidence[]): Segment[] {
  const found = evidence
    .filter(({ where, kind }) => where?.kind === 'part' && kind !== 'variable')
    .toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0))
  const segments: Segment[] = []
  let at = 0
  for (const each of found) {
    const { start, end } = each
    if (start === null || end === null || start < at || end > text.length) continue
    segments.push({ text: text.slice(at, start) }, { text: text.slice(start, end), evidence: each })
    at = end
  }
  return [...segments, { text: text.slice(at) }]
}

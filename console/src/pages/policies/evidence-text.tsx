import { MarkedText } from '../../kit/marked-text.tsx'
import { SmallHeading } from '../../kit/small-heading.tsx'
import { words } from '../../words/en.ts'
import type { Evaluation } from './queries.ts'
import styles from './evidence-text.module.css'

type Evidence = Evaluation['evidence'][number]

/** The text with what the rule found in it, marked and named. */
export function EvidenceText({ text, evidence }: { readonly text: string; readonly evidence: readonly Evidence[] }) {
  const marks = evidence.filter(({ where, kind }) => where?.kind === 'part' && kind !== 'variable')
  if (marks.length === 0) return null
  return (
    <section className={styles.evidence} aria-label={words.policy.evidence}>
      <SmallHeading>{words.policy.evidence}</SmallHeading>
      <MarkedText text={text} marks={marks} />
    </section>
  )
}

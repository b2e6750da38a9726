import { count } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import type { RequestDetail } from './queries.ts'
import styles from './proof.module.css'

const text = words.request

/** The place of the request's event in the hash chain of the audit log, and the checkpoint that signs it. */
export function Proof({ proof }: { readonly proof: RequestDetail['proof'] }) {
  const { previous, next, checkpoint } = proof
  return (
    <ol className={styles.chain}>
      {previous && <Link sequence={previous.sequence} mark={previous.fingerprint} note={text.before} />}
      <Link sequence={proof.sequence} mark={proof.fingerprint} note={text.this} kind="this" />
      {next && <Link sequence={next.sequence} mark={next.fingerprint} note={text.after} />}
      {checkpoint ? (
        <Link sequence={checkpoint.sequence} mark={checkpoint.key_id} note={text.signed} kind="signed" />
      ) : (
        <li className={styles.unsigned}>{text.notSigned}</li>
      )}
    </ol>
  )
}

type LinkProps = {
  readonly sequence: number
  readonly mark: string
  readonly note: string
  readonly kind?: 'this' | 'signed'
}

const Link = ({ sequence, mark, note, kind }: LinkProps) => (
  <li data-kind={kind}>
    <span className={styles.number}>{count(sequence)}</span>
    <code title={mark}>
      {mark.slice(0, 4)}…{mark.slice(-4)}
    </code>
    <span className={styles.note}>{note}</span>
  </li>
)

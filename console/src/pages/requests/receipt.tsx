import { count, dollars } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import type { RequestDetail } from './queries.ts'
import styles from './receipt.module.css'

const text = words.request

/** What the request was charged for. */
export function ReceiptTable({ receipt }: { readonly receipt: RequestDetail['receipt'] }) {
  if (receipt === null) return <p className={styles.none}>{text.noReceipt}</p>
  return (
    <table className={styles.receipt}>
      <tbody>
        <tr>
          <th scope="row">{text.input}</th>
          <td>{count(receipt.input_tokens)}</td>
        </tr>
        <tr>
          <th scope="row">{text.output}</th>
          <td>{count(receipt.output_tokens)}</td>
        </tr>
        <tr className={styles.sum}>
          <th scope="row">{text.charged}</th>
          <td>{dollars(receipt.cost_usd)}</td>
        </tr>
      </tbody>
    </table>
  )
}

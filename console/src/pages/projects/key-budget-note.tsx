import { Link } from '@tanstack/react-router'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import type { KeyBudgetOutcome } from './changes.ts'
import styles from './secret.module.css'

const text = words.projects.budget

type NoteProps = { readonly keyId: string; readonly outcome: KeyBudgetOutcome }

/** Beside the secret: what became of the budget. Links open beside this page, because the secret is shown only once. */
export const KeyBudgetNote = ({ keyId, outcome }: NoteProps) =>
  'error' in outcome ? (
    <>
      <Notice tone="error">
        {text.failed}{' '}
        <Link
          className={styles.link}
          to="/costs"
          search={{ view: 'budgets', dialog: 'create', key: keyId }}
          target="_blank"
        >
          {text.createByHand}
        </Link>
      </Notice>
      <ErrorNotice error={outcome.error} />
    </>
  ) : (
    <p className={styles.note}>
      {text.created}{' '}
      <Link to="/costs" search={{ view: 'budgets', budget: outcome.budget.id }} target="_blank">
        {outcome.budget.name}
      </Link>
    </p>
  )

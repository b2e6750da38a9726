import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Button } from '../../kit/button.tsx'
import { Author } from '../../session/author.tsx'
import { words } from '../../words/en.ts'
import type { Appeal } from './queries.ts'
import styles from './page.module.css'

const text = words.reviews

type ClosedProps = {
  readonly appeal: Appeal
  /** Its button takes the focus, so that Enter goes on to the next appeal. */
  readonly isFocused: boolean
  readonly onNext: () => void
}

/** How an appeal was closed, and what was made of it. */
export function Closed({ appeal, isFocused, onNext }: ClosedProps) {
  const { closed_by: by, reason, policy } = appeal
  const part = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isFocused) part.current?.querySelector('button')?.focus()
  }, [isFocused])
  return (
    <div ref={part} className={styles.part} role="status">
      <span>
        <strong>{text.states[appeal.state]}</strong>
        {by !== null && (
          <>
            {' '}
            {text.closedBy} <Author id={by} />
          </>
        )}
      </span>
      {reason !== null && (
        <span>
          {text.answer}: {reason}
        </span>
      )}
      {policy !== null && <Made appeal={appeal} policyId={policy.id} />}
      <span>
        <Button onClick={onNext}>{text.next}</Button>
      </span>
    </div>
  )
}

/** The draft and the exception are known from the answer of the server only. */
function Made({ appeal, policyId }: { readonly appeal: Appeal; readonly policyId: string }) {
  const { case_id: caseId, draft_revision: draft, exception_id: exceptionId } = appeal
  const params = { policyId }
  return (
    <>
      {caseId !== null && (
        <Link to="/policies/$policyId/cases" params={params}>
          {text.caseMade}
        </Link>
      )}
      {draft !== null && (
        <Link to="/policies/$policyId" params={params}>
          {text.draftMade}
        </Link>
      )}
      {exceptionId !== null && (
        <Link to="/policies/$policyId/exceptions" params={params}>
          {text.exceptionMade}
        </Link>
      )}
    </>
  )
}

import { useEffect, useState } from 'react'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { useReview, type Answer, type Appeal } from './queries.ts'
import styles from './page.module.css'

const text = words.reviews
const answers = ['match', 'no_match', 'unsure'] as const

export type AnswerProps = {
  readonly appeal: Appeal
  readonly onReveal: () => void
  readonly onAnswered: () => void
}

/** What a person says about a text: by a button, or by the keys 1, 2 and 3. */
export function AnswerForm({ appeal, onReveal, onAnswered }: AnswerProps) {
  const [note, setNote] = useState('')
  const review = useReview(appeal.id, onAnswered)
  const isOff = review.isPending || review.isSuccess
  const bodyOf = (should: Answer) => ({ should, ...(note.trim() !== '' && { note }) })
  const answer = (should: Answer): void => review.mutate(bodyOf(should))
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isOff) return
      const should = answers[Number(event.key) - 1]
      if (should !== undefined) answer(should)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
  return (
    <div className={styles.part} role="group" aria-label={text.question}>
      <strong>{text.question}</strong>
      {appeal.blind ? (
        <span className={styles.faint}>{text.blindHint}</span>
      ) : (
        <Notice tone="warning">{text.revealed}</Notice>
      )}
      <Field label={text.note}>
        {(props) => (
          <input {...props} value={note} maxLength={1000} onChange={(event) => setNote(event.currentTarget.value)} />
        )}
      </Field>
      <div className={styles.answers}>
        {answers.map((should, at) => (
          <Button key={should} disabled={isOff} aria-keyshortcuts={String(at + 1)} onClick={() => answer(should)}>
            <kbd aria-hidden="true">{at + 1}</kbd> {text.answers[should]}
          </Button>
        ))}
        {appeal.blind && (
          <Button look="ghost" onClick={onReveal}>
            {text.reveal}
          </Button>
        )}
      </div>
      {review.isError && <ErrorNotice error={review.error} />}
      <CommandPreview
        call={{
          method: 'POST',
          path: `/v1/organization/appeals/${appeal.id}/review`,
          body: bodyOf('no_match'),
          command: `gatehouse appeals review ${appeal.id} --should no_match`,
        }}
      />
    </div>
  )
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, textarea, select, dialog') !== null)

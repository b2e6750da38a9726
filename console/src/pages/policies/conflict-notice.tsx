import { useState } from 'react'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { ContentDiff } from './content-diff.tsx'
import type { Draft } from './use-draft.ts'
import styles from './conflict-notice.module.css'

const text = words.policy

type NoticeProps = { readonly draft: Draft; readonly onDone: () => void }

/** Somebody else saved first: compare both, then take theirs or keep the form. */
export function ConflictNotice({ draft, onDone }: NoticeProps) {
  const [isComparing, setComparing] = useState(false)
  const takeTheirs = (): void => {
    draft.takeStored()
    onDone()
  }
  const keepMine = (): void => {
    draft.keepForm()
    onDone()
  }
  const choices = (
    <>
      <Button onClick={takeTheirs}>{text.takeTheirs}</Button>
      <Button onClick={keepMine}>{text.keepMine}</Button>
    </>
  )
  return (
    <>
      <Notice tone="warning">
        {text.changedMeanwhile}
        <span className={styles.choices}>
          <Button onClick={() => setComparing(true)}>{text.compare}</Button>
          {choices}
        </span>
      </Notice>
      {isComparing && (
        <Dialog isWide title={text.theirsAndMine} onClose={() => setComparing(false)} actions={choices}>
          <ContentDiff label={text.theirsAndMine} before={draft.policy.draft} after={draft.form} />
        </Dialog>
      )}
    </>
  )
}

import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { words } from '../../words/en.ts'
import { ActionDialog, nextVersion } from './action-dialog.tsx'
import type { Draft } from './use-draft.ts'
import styles from './draft-bar.module.css'

const text = words.policy

type BarProps = { readonly draft: Draft; readonly isSaving: boolean; readonly onSave: () => void }

/** Whether the form is saved, and the buttons that save and publish it. */
export function DraftBar({ draft, isSaving, onSave }: BarProps) {
  const [isPublishing, setPublishing] = useState(false)
  const { policy, isChanged } = draft
  const mayWrite = useMay('policies:write')
  const obstacle = usePublishObstacle(draft)
  return (
    <footer className={styles.bar}>
      <span role="status">{isChanged ? text.unsaved : text.saved(policy.revision)}</span>
      <span className={styles.end}>
        {isChanged && (
          <Button look="ghost" onClick={draft.takeStored}>
            {text.reset}
          </Button>
        )}
        <Button
          disabled={!mayWrite || !isChanged || isSaving || draft.hasConflict}
          title={mayWrite ? undefined : words.policies.mayNotWrite}
          onClick={onSave}
        >
          {text.save}
        </Button>
        <Button look="primary" disabled={obstacle !== undefined} title={obstacle} onClick={() => setPublishing(true)}>
          {text.publish(nextVersion(policy))}
        </Button>
      </span>
      {isPublishing && <ActionDialog policy={policy} action="publish" onClose={() => setPublishing(false)} />}
    </footer>
  )
}

/** Why the draft cannot be published now. */
function usePublishObstacle({ policy, isChanged }: Draft): string | undefined {
  const mayPublish = useMay('policies:publish')
  if (!mayPublish) return words.policies.mayNotPublish
  if (isChanged) return text.saveFirst
  if (!policy.has_unpublished_changes && policy.published !== null) return text.nothingToPublish
  return undefined
}

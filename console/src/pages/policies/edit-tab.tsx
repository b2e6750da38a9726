import { useMay } from '../../session/session.tsx'
import { errorOfField } from '../../api/use-change.ts'
import { isApiError } from '../../api/error.ts'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { ConflictNotice } from './conflict-notice.tsx'
import { ContentDiff } from './content-diff.tsx'
import { commandOf, updateOf } from './content.ts'
import { DraftBar } from './draft-bar.tsx'
import { usePolicy, useUpdatePolicy } from './queries.ts'
import { RuleField } from './rule-field.tsx'
import { Settings } from './settings.tsx'
import { TryIt } from './try-it.tsx'
import { usePolicyDraft } from './use-draft.ts'
import styles from './edit-tab.module.css'

const text = words.policy
const fields = ['name', 'description', 'rule', 'project_ids', 'match_threshold_basis_points', 'judge_when']

/** The draft as a form, what it changes, and a text to try it on. */
export function EditTab() {
  const draft = usePolicyDraft()
  const { policy, base, form } = draft
  const mayWrite = useMay('policies:write')
  const { refetch } = usePolicy(policy.id)
  const update = useUpdatePolicy(policy.id, (saved) => draft.adopt(saved, form))
  const body = updateOf(form, base)
  const { error } = update
  const isConflict = isApiError(error) && error.code === 'revision_conflict'
  const isAtField = fields.some((field) => errorOfField(error, field) !== undefined)
  // The policy is loaded again after a conflict, so that its notice can compare both.
  const save = (): void => update.mutate(body, { onError: () => void refetch() })
  return (
    <div className={styles.tab}>
      <div className={styles.columns}>
        <div className={styles.column}>
          {draft.hasConflict && <ConflictNotice draft={draft} onDone={update.reset} />}
          {update.isError && !isConflict && !isAtField && <ErrorNotice error={error} />}
          <RuleField
            value={form.rule}
            error={errorOfField(error, 'rule')}
            isReadOnly={!mayWrite}
            onChange={(rule) => draft.set({ rule })}
          />
          <Settings form={form} error={error} isReadOnly={!mayWrite} onChange={draft.set} />
          {policy.published !== null && (
            <Card isFlush title={text.changesAgainst(policy.published.version)}>
              <ContentDiff
                label={text.changesAgainst(policy.published.version)}
                before={policy.published}
                after={form}
              />
            </Card>
          )}
          <CommandPreview
            call={{
              method: 'PATCH',
              path: `/v1/organization/policies/${policy.id}`,
              body,
              command: commandOf(policy.id, body),
            }}
          />
        </div>
        <div className={styles.column}>
          <TryIt policy={policy} form={form} />
        </div>
      </div>
      <DraftBar draft={draft} isSaving={update.isPending} onSave={save} />
    </div>
  )
}

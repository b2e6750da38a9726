import { useState, type ReactNode } from 'react'
import { useProjectNames } from '../../api/names.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { isGateError, overrideOf } from '../../kit/gate-override.tsx'
import { words } from '../../words/en.ts'
import type { PolicyContent } from './content.ts'
import { usePolicyAction, type Policy, type PolicyAction } from './queries.ts'
import { PublishError } from './gate-obstacle.tsx'
import { ReasonField, reasonOf, reasonOption } from './reason-field.tsx'
import styles from './action-dialog.module.css'

type DialogProps = { readonly policy: Policy; readonly action: PolicyAction; readonly onClose: () => void }

const text = words.policy

const verbs = { publish: 'publish', pause: 'pause', resume: 'resume', discard_draft: 'discard' } as const

/** Says what a change of the policy does and to whom, before it is made. */
export function ActionDialog({ policy, action, onClose }: DialogProps) {
  const change = usePolicyAction(policy.id, onClose)
  const [reason, setReason] = useState('')
  const [overrideReason, setOverrideReason] = useState('')
  const isPublication = action === 'publish'
  const { id, revision } = policy
  const override = change.isError && isGateError(change.error) ? overrideOf(overrideReason) : {}
  const body = { revision, ...(isPublication && { ...reasonOf(reason), ...override }) }
  const next = nextVersion(policy)
  const content = action === 'publish' ? policy.draft : (policy.published ?? policy.draft)
  return (
    <Dialog
      title={text.dialogs[action].title(policy.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button
            look={action === 'discard_draft' || override.override !== undefined ? 'danger' : 'primary'}
            disabled={change.isPending}
            onClick={() => change.mutate({ action, body })}
          >
            {submitText({ action, next, isOverride: override.override !== undefined })}
          </Button>
        </>
      }
    >
      <p>{sentenceOf(policy, action)}</p>
      {action === 'publish' && policy.state === 'paused' && <p>{text.dialogs.publish.paused}</p>}
      {action !== 'discard_draft' && <Affected content={content} />}
      {action !== 'discard_draft' && <p className={styles.undo}>{text.dialogs[action].undo}</p>}
      {isPublication && <ReasonField value={reason} onChange={setReason} />}
      {change.isError && (
        <PublishError
          policyId={id}
          error={change.error}
          override={{ reason: overrideReason, onReason: setOverrideReason }}
        />
      )}
      <CommandPreview
        call={{
          method: 'POST',
          path: `/v1/organization/policies/${id}/${action}`,
          body,
          command: `gatehouse policies ${verbs[action]} ${id}${isPublication ? reasonOption(reason) : ''} --revision ${revision}`,
        }}
      />
    </Dialog>
  )
}

type Submit = { readonly action: PolicyAction; readonly next: number; readonly isOverride: boolean }

function submitText({ action, next, isOverride }: Submit): string {
  if (action !== 'publish') return text.dialogs[action].submit
  return isOverride ? words.gate.overrideSubmit(next) : text.publish(next)
}

/** Versions count up, and the newest one is in force. */
export const nextVersion = ({ current_version: version }: Policy): number => (version ?? 0) + 1

function sentenceOf(policy: Policy, action: PolicyAction): ReactNode {
  const current = policy.current_version ?? 1
  if (action === 'publish') return text.dialogs.publish.text(nextVersion(policy))
  if (action === 'pause') return text.dialogs.pause.text
  return text.dialogs[action].text(current)
}

/** Which requests a content applies to, and what happens to those that match. */
export function Affected({ content }: { readonly content: PolicyContent }) {
  const projects = useProjectNames()
  const { scope, mode, direction, project_ids: ids } = content
  const who =
    scope === 'projects'
      ? text.affects.projects(ids.map((id) => projects.get(id) ?? id).join(', '))
      : text.affects[scope]
  return (
    <dl className={styles.facts}>
      <dt>{text.affected}</dt>
      <dd>{who}</dd>
      <dt>{text.direction}</dt>
      <dd>{text.directions[direction]}</dd>
      <dt>{text.effect}</dt>
      <dd>{text.effects[mode]}</dd>
    </dl>
  )
}

import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { words } from '../../words/en.ts'
import { Affected, nextVersion } from './action-dialog.tsx'
import { PublishError } from './gate-obstacle.tsx'
import { contentOf, type PolicyContent } from './content.ts'
import { useChangeMode, type Policy, type PolicyVersion } from './queries.ts'

const text = words.policy.rollout

type DialogProps = {
  readonly policy: Policy
  readonly published: PolicyVersion
  readonly mode: PolicyContent['mode']
  readonly onClose: () => void
}

/** Publishes what is in force with the other mode: the draft gets the mode, and becomes the next version. */
export function RolloutDialog({ policy, published, mode, onClose }: DialogProps) {
  const change = useChangeMode(policy.id, onClose)
  const { id, revision } = policy
  const version = nextVersion(policy)
  return (
    <Dialog
      title={text.title[mode](policy.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button look="primary" disabled={change.isPending} onClick={() => change.mutate({ revision, mode })}>
            {text.submit[mode](version)}
          </Button>
        </>
      }
    >
      <p>{text.text(published.version, version)}</p>
      {policy.state === 'paused' && <p>{words.policy.dialogs.publish.paused}</p>}
      <Affected content={{ ...contentOf(published), mode }} />
      <p>{words.policy.dialogs.publish.undo}</p>
      {change.isError && <PublishError policyId={id} error={change.error} />}
      <CommandPreview
        call={{
          method: 'PATCH',
          path: `/v1/organization/policies/${id}`,
          body: { revision, mode },
          command: `gatehouse policies update ${id} --mode ${mode} --revision ${revision} && gatehouse policies publish ${id}`,
        }}
      />
    </Dialog>
  )
}

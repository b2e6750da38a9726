import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { ExceptionDialog, type ExceptionCreate } from '../../kit/exception-dialog.tsx'
import { useMay } from '../../session/session.tsx'
import { useSubjectNames } from '../../session/subject-names.ts'
import { words } from '../../words/en.ts'
import type { RequestDetail } from './queries.ts'

type Props = { readonly request: RequestDetail; readonly outcome: RequestDetail['outcomes'][number] }

/** Lets requests like this one through for some days, while the policy is being fixed. */
export function MakeException({ request, outcome }: Props) {
  const [isOpen, setOpen] = useState(false)
  const mayPublish = useMay('policies:publish')
  const mayReadTexts = useMay('content:read')
  const subjects = useSubjectNames()
  const close = (): void => setOpen(false)
  const policyId = outcome.policy_id ?? ''
  const create = useChange({
    send: (body: ExceptionCreate) =>
      dataOf(
        api.POST('/v1/organization/policies/{policy_id}/exceptions', {
          params: { path: { policy_id: policyId } },
          body,
        }),
      ),
    refresh: [['policy', policyId, 'exceptions']],
    onDone: close,
  })
  if (!mayPublish || outcome.is_enforced !== true || outcome.decision !== 'refuse') return null
  const hasTexts = request.is_content_kept && mayReadTexts && request.direction === 'request'
  const known = {
    user: request.user_id,
    project_id: request.project_id,
    key_id: request.api_key_id,
    event_id: hasTexts ? request.event_id : undefined,
  }
  return (
    <>
      <p>
        <Button isSmall onClick={() => setOpen(true)}>
          {words.exceptions.add}
        </Button>
      </p>
      {isOpen && (
        <ExceptionDialog
          policyId={policyId}
          policyName={outcome.name ?? policyId}
          known={known}
          subjects={subjects}
          create={create}
          onClose={close}
        />
      )}
    </>
  )
}

import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { blankPolicy, isTemplateId, policyOfRequest, policyOfTemplate } from './new-policy.ts'
import { NewPolicyDialog } from './new-policy-dialog.tsx'
import { usePolicy, useSourceRequest } from './queries.ts'
import { templates } from './templates.ts'
import styles from './edit-tab.module.css'

const text = words.policies

type CreateProps = {
  /** `blank`, the id of a template, or the id of a request. */
  readonly from: string
  readonly onFrom: (from: string) => void
  readonly onClose: () => void
}

/** The dialog for a new policy: empty, from a template, or from a request. The address says which. */
export function CreatePolicy({ from, onFrom, onClose }: CreateProps) {
  if (from.startsWith('req_')) return <FromRequest requestId={from} onClose={onClose} />
  const template = isTemplateId(from) ? from : undefined
  return (
    <NewPolicyDialog
      key={from}
      initial={template === undefined ? blankPolicy : policyOfTemplate(template)}
      onClose={onClose}
    >
      <Field
        label={text.startFrom}
        hint={template === undefined ? text.startHint : text.templates[template].description}
      >
        {(props) => (
          <select {...props} value={template ?? 'blank'} onChange={(event) => onFrom(event.target.value)}>
            <option value="blank">{text.blank}</option>
            {templates.map(({ id }) => (
              <option key={id} value={id}>
                {text.templates[id].name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {template !== undefined && <p className={styles.note}>{text.templateNote}</p>}
    </NewPolicyDialog>
  )
}

function FromRequest({ requestId, onClose }: { readonly requestId: string; readonly onClose: () => void }) {
  const request = useSourceRequest(requestId)
  const policyId = request.data?.policy_id ?? ''
  const isByPolicy = policyId.startsWith('pol_')
  const decidedBy = usePolicy(policyId, isByPolicy)
  const isLoading = request.isPending || (isByPolicy && decidedBy.isPending)
  if (request.data === undefined || isLoading)
    return (
      <Dialog
        title={text.createTitle}
        onClose={onClose}
        actions={<Button onClick={onClose}>{words.common.cancel}</Button>}
      >
        {request.isError ? (
          <FailureState title={text.requestFailed} error={request.error} onRetry={() => void request.refetch()} />
        ) : (
          <LoadingRows widths={[120, 200]} rows={3} />
        )}
      </Dialog>
    )
  const initial = policyOfRequest(request.data, decidedBy.data)
  return (
    <NewPolicyDialog initial={initial} onClose={onClose}>
      <p className={styles.note}>{initial.rule === '' ? text.fromRequestEmpty : text.fromRequestNote}</p>
    </NewPolicyDialog>
  )
}

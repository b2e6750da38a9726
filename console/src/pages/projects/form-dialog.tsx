import { useId, type ReactNode, type SubmitEvent } from 'react'
import { isApiError } from '../../api/error.ts'
import { Button, type ButtonLook } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import styles from './dialogs.module.css'

type FormProps = {
  readonly title: string
  /** The words of the button, which name the consequence. */
  readonly action: string
  readonly look?: ButtonLook
  readonly isDisabled?: boolean
  readonly change: { readonly isPending: boolean; readonly error: unknown }
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Fields that have a place for their error. Other errors stand below the form. */
const fields = new Set(['name', 'models', 'permissions', 'expires_at', 'allowed_ips'])

/** A dialog with a form: Enter sends it, and errors that belong to no field stand below it. */
export function FormDialog({ title, action, look, isDisabled, change, onSubmit, onClose, children }: FormProps) {
  const formId = useId()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button
            type="submit"
            form={formId}
            look={look ?? 'primary'}
            disabled={isDisabled === true || change.isPending}
          >
            {action}
          </Button>
        </>
      }
    >
      <form id={formId} className={styles.form} onSubmit={submit}>
        {children}
        {change.error !== null && !hasField(change.error) && <ErrorNotice error={change.error} />}
      </form>
    </Dialog>
  )
}

const hasField = (error: unknown): boolean => isApiError(error) && fields.has(error.param?.split(/[.[]/)[0] ?? '')

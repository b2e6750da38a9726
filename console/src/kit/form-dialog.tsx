import { useId, type ReactNode, type SubmitEvent } from 'react'
import { isApiError } from '../api/error.ts'
import { words } from '../words/en.ts'
import { Button, type ButtonLook } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './notice.tsx'
import styles from './form-dialog.module.css'

type FormProps = {
  readonly title: string
  /** The words of the button, which name the consequence. */
  readonly action: string
  readonly look?: ButtonLook
  readonly isDisabled?: boolean
  readonly change: { readonly isPending: boolean; readonly error: unknown }
  /** Fields that have a place for their error. Other errors stand below the form. */
  readonly fields?: readonly string[]
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog with a form: Enter sends it, and errors that belong to no field stand below it. */
export function FormDialog(props: FormProps) {
  const { title, action, look, isDisabled, change, fields = [], onSubmit, onClose, children } = props
  const formId = useId()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    onSubmit()
  }
  const field = isApiError(change.error) ? (change.error.param?.split(/[.[]/)[0] ?? '') : ''
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
        {change.error !== null && !fields.includes(field) && <ErrorNotice error={change.error} />}
      </form>
    </Dialog>
  )
}

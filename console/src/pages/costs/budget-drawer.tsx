import { useNavigate } from '@tanstack/react-router'
import { Button, IconButton } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Drawer, DrawerButtons, DrawerFacts, DrawerSection } from '../../kit/drawer.tsx'
import { dateAndTime } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { ShortId } from '../../kit/short-id.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMay } from '../../session/session.tsx'
import type { SubjectNames } from '../../session/subject-names.ts'
import { useObjectTitle } from '../../session/title.ts'
import { words } from '../../words/en.ts'
import { DeleteDialog, ExtraDialog, PauseDialog } from './action-dialogs.tsx'
import { EditBudgetDialog } from './budget-dialog.tsx'
import { actionText, amountOf, amountText, appliesTo, inUnit } from '../../session/budget-words.ts'
import { BudgetState } from './budget-state.tsx'
import { Members } from './members.tsx'
import { budgetsPath, useBudget, type Budget } from './queries.ts'
import type { BudgetDialogName } from './search.ts'
import styles from './budgets.module.css'

const text = words.budgets

type DrawerProps = {
  readonly id: string
  readonly dialog: BudgetDialogName | undefined
  readonly names: SubjectNames
}

/** One budget: whom it applies to, what each member has spent, and what can be done. */
export function BudgetDrawer({ id, dialog, names }: DrawerProps) {
  const query = useBudget(id)
  const budget = query.data
  useObjectTitle(budget?.name)
  const navigate = useNavigate({ from: '/costs' })
  const close = (): void => void navigate({ search: { view: 'budgets' } })
  return (
    <Drawer
      label={text.label}
      bar={
        <>
          {budget && <BudgetState budget={budget} />}
          <ShortId id={id} />
          <DrawerButtons>
            <IconButton isSmall icon="close" label={words.common.close} onClick={close} />
          </DrawerButtons>
        </>
      }
      title={budget && <h2>{budget.name}</h2>}
      lead={budget && <p>{`${appliesTo(budget, names)}: ${amountText(budget)}`}</p>}
    >
      {query.isPending && <LoadingRows widths={[90, 220, 60]} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {budget && <Detail budget={budget} dialog={dialog} names={names} onGone={close} />}
    </Drawer>
  )
}

type DetailProps = {
  readonly budget: Budget
  readonly dialog: BudgetDialogName | undefined
  readonly names: SubjectNames
  readonly onGone: () => void
}

function Detail({ budget, dialog, names, onGone }: DetailProps) {
  const mayWrite = useMay('budgets:write')
  const navigate = useNavigate({ from: '/costs' })
  const open = (name: BudgetDialogName | undefined): void =>
    void navigate({ search: (before) => ({ ...before, dialog: name }) })
  const close = (): void => open(undefined)
  const { id, managed_by: owner, extra, warn_at: warnAt } = budget
  const { unit } = amountOf(budget)
  const mayChange = mayWrite && owner === undefined
  return (
    <>
      {owner !== undefined && (
        <DrawerSection>
          <Notice tone="none">{text.managed(owner)}</Notice>
        </DrawerSection>
      )}
      {owner === undefined && <Actions budget={budget} mayWrite={mayWrite} onDialog={open} />}
      <DrawerFacts
        className={styles.facts}
        facts={[
          [text.action, actionText(budget.action)],
          [text.warnAt, warnAt.length === 0 ? text.noWarning : warnAt.map((share) => `${share} %`).join(', ')],
          [text.timeZone, budget.time_zone],
        ]}
      />
      {extra && (
        <DrawerSection title={text.extra}>
          <p>{text.extraOf(inUnit(unit, extra.amount), dateAndTime(extra.until * 1_000), extra.reason)}</p>
        </DrawerSection>
      )}
      <Members budget={budget} names={names} />
      <DrawerSection>
        <CommandPreview
          call={{ method: 'GET', path: `${budgetsPath}/${id}`, command: `gatehouse budgets show ${id}` }}
        />
      </DrawerSection>
      {mayChange && dialog === 'edit' && <EditBudgetDialog budget={budget} onClose={close} />}
      {mayChange && (dialog === 'pause' || dialog === 'resume') && (
        <PauseDialog action={dialog} budget={budget} onClose={close} />
      )}
      {mayChange && dialog === 'extra' && <ExtraDialog budget={budget} onClose={close} />}
      {mayChange && dialog === 'delete' && <DeleteDialog budget={budget} onClose={close} onDeleted={onGone} />}
    </>
  )
}

type ActionsProps = {
  readonly budget: Budget
  readonly mayWrite: boolean
  readonly onDialog: (dialog: BudgetDialogName) => void
}

function Actions({ budget: { state }, mayWrite, onDialog }: ActionsProps) {
  const allowed = { disabled: !mayWrite, title: mayWrite ? undefined : text.lacks }
  const toggle = state === 'active' ? 'pause' : 'resume'
  return (
    <DrawerSection>
      <div className={styles.actions}>
        <Button {...allowed} onClick={() => onDialog('edit')}>
          {text.edit}
        </Button>
        <Button {...allowed} onClick={() => onDialog('extra')}>
          {text.addExtra}
        </Button>
        <Button {...allowed} onClick={() => onDialog(toggle)}>
          {text[toggle]}
        </Button>
        <Button {...allowed} look="danger" onClick={() => onDialog('delete')}>
          {text.remove}
        </Button>
      </div>
    </DrawerSection>
  )
}

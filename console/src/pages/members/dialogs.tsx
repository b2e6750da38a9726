import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { useMe } from '../../session/session.tsx'
import { command } from '../../kit/command.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { ConfirmName } from '../../kit/confirm-name.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { membersPath, nameOf, useInvite, useRemoveMember, useRoles, useUpdateMember, type Member } from './queries.ts'

const text = words.members
const fields = ['email', 'subject', 'name', 'role']

type Close = { readonly onClose: () => void }

/** Invites a person by address or subject. */
export function InviteDialog({ onClose }: Close) {
  const [knownBy, setKnownBy] = useState<'email' | 'subject'>('email')
  const [value, setValue] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Member['role']>('auditor')
  const change = useInvite(onClose)
  const body = { [knownBy]: value.trim(), ...(name.trim() !== '' && { name: name.trim() }), role }
  return (
    <FormDialog
      title={text.invite}
      action={text.invite}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <p>{text.inviteHint}</p>
      <Field label={text.knownBy}>
        {(props) => (
          <select
            {...props}
            value={knownBy}
            onChange={(event) => setKnownBy(event.target.value === 'subject' ? 'subject' : 'email')}
          >
            <option value="email">{text.email}</option>
            <option value="subject">{text.subject}</option>
          </select>
        )}
      </Field>
      <Field label={text[knownBy]} hint={text[`${knownBy}Hint`]} error={errorOfField(change.error, knownBy)}>
        {(props) => (
          <input
            {...props}
            type={knownBy === 'email' ? 'email' : 'text'}
            value={value}
            required
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <Field label={text.name} hint={text.nameHint} error={errorOfField(change.error, 'name')}>
        {(props) => (
          <input {...props} value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <RoleField role={role} error={errorOfField(change.error, 'role')} onChange={setRole} />
      <CommandPreview
        call={{
          method: 'POST',
          path: membersPath,
          body,
          command: command('members add', {
            [knownBy]: value.trim() || 'ada@example.com',
            role,
            name: name.trim() || undefined,
          }),
        }}
      />
    </FormDialog>
  )
}

type RoleProps = {
  readonly role: Member['role']
  readonly error: string | undefined
  readonly isFixed?: boolean
  readonly onChange: (role: Member['role']) => void
}

/** A role with permissions that the signed-in administrator lacks cannot be chosen: the server would reject it. */
function RoleField({ role, error, isFixed = false, onChange }: RoleProps) {
  const roles = useRoles().data?.data ?? []
  const { permissions } = useMe()
  const holds = (needed: readonly (typeof permissions)[number][]): boolean =>
    permissions.includes('*') || needed.every((permission) => permissions.includes(permission))
  const chosen = roles.find(({ id }) => id === role)
  return (
    <Field label={text.role} hint={isFixed ? text.roleFromGroups : (chosen?.description ?? '')} error={error}>
      {(props) => (
        <select
          {...props}
          value={role}
          disabled={isFixed}
          onChange={(event) => onChange(roles.find(({ id }) => id === event.target.value)?.id ?? role)}
        >
          {roles.map(({ id, permissions: needed }) => (
            <option key={id} value={id} disabled={!holds(needed) && id !== role}>
              {holds(needed) || id === role ? id : text.lacksRole(id)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type MemberProps = Close & { readonly member: Member }

/** Changes the role and the name. */
export function EditMemberDialog({ member, onClose }: MemberProps) {
  const [name, setName] = useState(member.name ?? '')
  const [role, setRole] = useState(member.role)
  const change = useUpdateMember(member, onClose)
  const given = name.trim() === '' ? null : name.trim()
  const body = { ...(given !== member.name && { name: given }), ...(role !== member.role && { role }) }
  return (
    <FormDialog
      title={text.editOf(nameOf(member))}
      action={text.saveChanges}
      isDisabled={Object.keys(body).length === 0}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <RoleField
        role={role}
        isFixed={member.role_source === 'groups'}
        error={errorOfField(change.error, 'role')}
        onChange={setRole}
      />
      {role !== member.role && <Notice tone="none">{text.roleNow}</Notice>}
      {role !== member.role && <OwnNotice member={member} />}
      <Field label={text.name} hint={text.nameHint} error={errorOfField(change.error, 'name')}>
        {(props) => (
          <input {...props} value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <CommandPreview
        call={{
          method: 'PATCH',
          path: `${membersPath}/${member.id}`,
          body,
          command: command(`members update ${member.id}`, { role: body.role, name: body.name ?? undefined }),
        }}
      />
    </FormDialog>
  )
}

/** Changes to one's own access are easy to regret. */
function OwnNotice({ member }: { readonly member: Member }) {
  const { actor } = useMe()
  return actor.id === member.id ? <Notice tone="warning">{text.yourself}</Notice> : null
}

export function SuspendDialog({ member, action, onClose }: MemberProps & { readonly action: 'suspend' | 'activate' }) {
  const change = useUpdateMember(member, onClose)
  const title = text[`${action}Of`](nameOf(member))
  const body = { status: action === 'suspend' ? 'suspended' : 'active' } as const
  return (
    <FormDialog
      title={title}
      action={title}
      look={action === 'suspend' ? 'danger' : 'primary'}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <p>{text[`${action}Text`]}</p>
      {action === 'suspend' && <OwnNotice member={member} />}
      <CommandPreview
        call={{
          method: 'PATCH',
          path: `${membersPath}/${member.id}`,
          body,
          command: `gatehouse members ${action} ${member.id}`,
        }}
      />
    </FormDialog>
  )
}

export function RemoveMemberDialog({ member, onClose }: MemberProps) {
  const [isConfirmed, setConfirmed] = useState(false)
  const change = useRemoveMember(member, onClose)
  const title = text.removeOf(nameOf(member))
  return (
    <FormDialog
      title={title}
      action={title}
      look="danger"
      isDisabled={!isConfirmed}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate()}
    >
      <p>{text.removeText}</p>
      {member.role_source === 'groups' && <Notice tone="warning">{text.removeGroups}</Notice>}
      <OwnNotice member={member} />
      <ConfirmName name={nameOf(member)} onChange={setConfirmed} />
      <CommandPreview
        call={{
          method: 'DELETE',
          path: `${membersPath}/${member.id}`,
          command: `gatehouse members remove ${member.id}`,
        }}
      />
    </FormDialog>
  )
}

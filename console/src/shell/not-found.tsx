import { Link } from '@tanstack/react-router'
import { buttonClass } from '../kit/button.tsx'
import { EmptyState } from '../kit/state.tsx'
import { words } from '../words/en.ts'

const text = words.shell.notFound

/** For an address that is no page. */
export const NotFound = () => (
  <EmptyState
    title={text.title}
    actions={
      <>
        <Link to="/overview" className={buttonClass({ look: 'primary' })}>
          {words.pages.overview}
        </Link>
        <Link to="/requests" className={buttonClass({ look: 'normal' })}>
          {words.pages.requests}
        </Link>
      </>
    }
  >
    <p>{text.text}</p>
  </EmptyState>
)

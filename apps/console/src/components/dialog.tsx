import { useEffect, useRef } from "react";
import type { ReactNode } from "react";

/** Asks before something that cannot be undone; Esc means no. */
export function Confirm({
  title,
  action,
  isBusy,
  onYes,
  onNo,
  children,
}: {
  readonly title: string;
  readonly action: string;
  readonly isBusy: boolean;
  readonly onYes: () => void;
  readonly onNo: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = place.current;
    if (dialog?.open === false) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={place} onClose={onNo} aria-labelledby="confirm-title">
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onYes();
        }}
      >
        <h2 id="confirm-title">{title}</h2>
        {children}
        <div className="buttons">
          <button type="button" onClick={onNo}>
            Cancel
          </button>
          <button type="submit" className="danger" disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

"""Entry of a hosted Space and of `python app.py`: the app with the model that suits this machine."""

if __name__ == "__main__":
    # The drafter's process reads this file again, and needs nothing of the app.
    from sssd_demo.leaving import leave
    from sssd_demo.models import default_name
    from sssd_demo.service import Service
    from sssd_demo.ui.launch import launch

    running = launch(lambda model, progress: Service.open(model, progress=progress), default_name())
    running.wait()
    leave(0)

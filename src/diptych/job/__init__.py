"""Jobs: folders of many runs, the ledger of finished tasks, and the driver that runs tasks."""
